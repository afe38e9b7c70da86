//! A server with models of its own, and a client that a test scripts.

use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex};

use config::{Preset, RunConfig, RunName};
use go::{Game, Move, Size, Symmetry};
use inference::{Found, Limits, ModelProvider, Opened, Options, ProviderError, Server, StoreProvider};
use models::Models;
use net::{Device, Model, NetError, PlaneEvaluator, Precision, Shape, Weights};
use remote::proto::v1::client_message::Message as FromClient;
use remote::proto::v1::evaluation_client::EvaluationClient;
use remote::proto::v1::server_message::Message as FromServer;
use remote::proto::v1::{self, ClientMessage, Hello, Welcome};
use remote::{Answer, Batch, Digest, Encoding, ModelKey, Output, Refusal};
use runtime::Health;
use store::{ModelMetadata, Store};
use testing::PATIENCE;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Sender, channel};
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, Streaming};

/// With a thread for connections, so that a test may block.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Shapes of the models 1 and 2 of run `v1`.
pub(crate) fn shapes() -> [Shape; 2] {
    let shape = |side| Shape { blocks: 1, filters: 16, ..Shape::plain(Size::new(side).unwrap()) };
    [Shape { inputs: net::Inputs::Features, ..shape(5) }, shape(7)]
}

pub(crate) fn weights(number: u32) -> Weights {
    Weights::synthetic(shapes()[number as usize - 1], u64::from(number))
}

fn config(shape: Shape) -> RunConfig {
    let mut config = Preset::Tiny.config();
    config.game.size = shape.size.side();
    config
}

/// A store with the run `v1`.
pub(crate) fn models() -> Models {
    let store = Store::in_memory().unwrap();
    let run = store.run(&"v1".parse().unwrap());
    run.create(&config(shapes()[0])).unwrap();
    for number in [1, 2] {
        let config = config(shapes()[number as usize - 1]);
        let metadata = ModelMetadata::new(run.name(), number, 0, &config);
        run.models().publish(&metadata, weights(number).to_bytes().into()).unwrap();
    }
    Models::new(store)
}

pub(crate) fn key(number: u32) -> ModelKey {
    let digest = Some(Digest::of(&weights(number).to_bytes()));
    ModelKey { run: "v1".parse().unwrap(), number, digest }
}

pub(crate) fn options() -> Options {
    Options::local("127.0.0.1:0".parse().unwrap(), 2)
}

/// A server of the models of [`models`].
pub(crate) fn serve(options: Options) -> Server {
    let provider = StoreProvider::new(models(), Device::Cpu, options.limits.batch, options.threads);
    Server::start(options, Arc::new(provider), Health::default()).unwrap()
}

/// Planes of so many positions of a game.
pub(crate) fn planes(shape: Shape, positions: usize) -> Vec<u8> {
    let Shape { size, inputs, .. } = shape;
    let mut game = Game::new(size);
    let mut planes = vec![0; positions * inputs.len(size)];
    for (nth, row) in planes.chunks_exact_mut(inputs.len(size)).enumerate() {
        let mv = Move::from_index(size, (nth * 7) % size.moves()).unwrap();
        if game.is_legal(mv) {
            game.play(mv).unwrap();
        }
        inputs.of_game(&game, 5.5, Symmetry::ALL[nth % Symmetry::ALL.len()], row);
    }
    planes
}

/// What the network says in this process: policies, and values.
pub(crate) fn local(number: u32, planes: &[u8]) -> [Vec<f32>; 2] {
    let shape = shapes()[number as usize - 1];
    let positions = planes.len() / shape.inputs.len(shape.size);
    let model = Model::new(&weights(number), Device::Cpu, Precision::Auto, positions).unwrap();
    let (mut policies, mut values) = (vec![0.0; positions * shape.size.moves()], vec![0.0; positions]);
    model.session().evaluate(planes, &mut policies, &mut values).unwrap();
    [policies, values]
}

pub(crate) fn batch(id: u64, number: u32, positions: usize) -> Batch {
    let shape = shapes()[number as usize - 1];
    Batch::pack(id, key(number), &shape.inputs.packing(shape.size), &planes(shape, positions), Encoding::F32)
}

pub(crate) async fn connect(address: &str) -> Channel {
    Endpoint::from_shared(address.to_owned()).unwrap().connect().await.unwrap()
}

/// The numbers of a response, as bits.
pub(crate) fn numbers(output: &Output, number: u32, positions: usize, encoding: Encoding) -> [Vec<f32>; 2] {
    let moves = shapes()[number as usize - 1].size.moves();
    let (mut policies, mut values) = (vec![0.0; positions * moves], vec![0.0; positions]);
    output.read(encoding, &mut policies, &mut values).unwrap();
    [policies, values]
}

/// The plane of komi, a constant one.
pub(crate) const KOMI: usize = 15;

/// A batch of model 1 whose komi is its id, by which a [`Gate`] knows it.
pub(crate) fn marked(id: u8, positions: usize) -> Batch {
    let scalars = [1, id].repeat(positions).into();
    Batch { scalars, ..batch(id.into(), 1, positions) }
}

/// A client with one stream.
pub(crate) struct Client {
    sender: Sender<ClientMessage>,
    messages: Streaming<v1::ServerMessage>,
    pub(crate) welcome: Welcome,
}

impl Client {
    pub(crate) async fn connect(address: &str) -> Client {
        Client::open(connect(address).await).await.unwrap()
    }

    pub(crate) async fn open(channel: Channel) -> Result<Client, Status> {
        Client::with(EvaluationClient::new(channel)).await
    }

    pub(crate) async fn with<T>(mut client: EvaluationClient<T>) -> Result<Client, Status>
    where
        T: tonic::client::GrpcService<tonic::body::Body>,
        T::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        T::ResponseBody: tonic::codegen::Body<Data = bytes::Bytes> + Send + 'static,
        <T::ResponseBody as tonic::codegen::Body>::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send,
    {
        let (sender, receiver) = channel(1000);
        let outgoing = futures::stream::unfold(receiver, async |mut receiver| {
            receiver.recv().await.map(|message| (message, receiver))
        });
        let hello = Hello { protocol: 1, client: "test".to_owned() };
        send(&sender, FromClient::Hello(hello)).await;
        let mut messages = client.evaluate(outgoing).await?.into_inner();
        match messages.message().await?.and_then(|message| message.message) {
            Some(FromServer::Welcome(welcome)) => Ok(Client { sender, messages, welcome }),
            other => panic!("expected a welcome: {other:?}"),
        }
    }

    pub(crate) async fn send(&self, batch: impl Into<v1::Batch>) {
        send(&self.sender, FromClient::Batch(batch.into())).await;
    }

    async fn message(&mut self) -> Option<FromServer> {
        let message = tokio::time::timeout(PATIENCE, self.messages.message()).await.expect("a message or an end");
        Some(message.expect("no error")?.message.expect("a message"))
    }

    /// Returns when the server has told its credit.
    pub(crate) async fn credit(&mut self) {
        let message = self.message().await;
        assert!(matches!(message, Some(FromServer::Credit(_))), "{message:?}");
    }

    /// The next response; `None` when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Answer> {
        loop {
            match self.message().await? {
                FromServer::Answer(answer) => return Some(Answer::read(answer).unwrap()),
                FromServer::Credit(_) => {}
                FromServer::Welcome(_) => panic!("a second welcome"),
            }
        }
    }

    pub(crate) async fn answer(&mut self) -> Answer {
        self.next().await.expect("an answer")
    }

    pub(crate) async fn refusal(&mut self, batch: impl Into<v1::Batch>) -> Refusal {
        self.send(batch).await;
        self.answer().await.result.expect_err("a refusal")
    }

    /// Requests some positions and compares the response with the local network's, bit by bit.
    pub(crate) async fn check(&mut self, number: u32, positions: usize) {
        self.send(batch(99, number, positions)).await;
        let answer = self.answer().await;
        assert_eq!(answer.id, 99);
        let found = numbers(&answer.result.unwrap(), number, positions, Encoding::F32);
        let bits = |numbers: [Vec<f32>; 2]| numbers.map(|all| all.into_iter().map(f32::to_bits).collect::<Vec<_>>());
        assert_eq!(bits(found), bits(local(number, &planes(shapes()[number as usize - 1], positions))));
    }
}

async fn send(sender: &Sender<ClientMessage>, message: FromClient) {
    // A stream that has ended shows when the answer is read.
    drop(sender.send(ClientMessage { message: Some(message) }).await);
}

/// A device that evaluates when a test opens it, and records the sizes of batches.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    is_open: bool,
    waiting: usize,
    batches: Vec<usize>,
    marks: Vec<u8>,
}

impl Gate {
    /// Evaluates from now on.
    pub(crate) fn open(&self) {
        self.0.0.lock().unwrap().is_open = true;
        self.0.1.notify_all();
    }

    /// Waits until it is open.
    fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.waiting += 1;
        changed.notify_all();
        changed.wait_while(state, |state| !state.is_open).unwrap().waiting -= 1;
    }

    /// Returns when something waits at the gate.
    pub(crate) fn wait_until_reached(&self) {
        let state = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(state, |state| state.waiting == 0).unwrap());
    }

    /// The marks of the first positions of the batches so far; see [`marked`].
    pub(crate) fn marks(&self) -> Vec<u8> {
        self.0.0.lock().unwrap().marks.clone()
    }

    /// The sizes of the batches so far.
    pub(crate) fn batches(&self) -> Vec<usize> {
        self.0.0.lock().unwrap().batches.clone()
    }
}

/// A gate that opens at the end of a test, where an assertion has failed too: a server that is dropped waits for its
/// loads.
pub(crate) struct Opening(Gate);

impl Deref for Opening {
    type Target = Gate;

    fn deref(&self) -> &Gate {
        &self.0
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// The warm-up passes.
struct Gated {
    gate: Gate,
    is_warm: bool,
}

impl PlaneEvaluator for Gated {
    fn evaluate(&mut self, planes: &[u8], _: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        if std::mem::replace(&mut self.is_warm, true) {
            self.gate.pass();
            let mut state = self.gate.0.0.lock().unwrap();
            state.batches.push(values.len());
            state.marks.push(planes[KOMI * shapes()[0].size.area()]);
        }
        values.fill(0.25);
        Ok(())
    }
}

/// Any model of any run, with the shape of [`shapes`]'s first, behind a gate, and behind another one that opens it.
pub(crate) struct GatedProvider {
    pub(crate) device: Gate,
    pub(crate) store: Gate,
}

impl GatedProvider {
    /// Models that are opened at once.
    pub(crate) fn new(device: Gate) -> GatedProvider {
        let store = Gate::default();
        store.open();
        GatedProvider { device, store }
    }
}

impl ModelProvider for GatedProvider {
    fn find(&self, _: &RunName, number: u32) -> Result<Found, ProviderError> {
        let (gate, store) = (self.device.clone(), self.store.clone());
        let digest = key(number).digest.unwrap();
        let opened = Opened {
            shape: shapes()[0],
            devices: 1,
            open: Box::new(move |_| Box::new(Gated { gate: gate.clone(), is_warm: false })),
        };
        Ok(Found {
            digest,
            bytes: 1,
            open: Box::new(move || {
                store.pass();
                Ok(opened)
            }),
        })
    }
}

/// A server with one thread whose device waits at a gate, and evaluates batches of four positions.
pub(crate) fn serve_gated(limits: Limits) -> (Server, Gate) {
    serve_gated_on("127.0.0.1:0", limits)
}

/// The same at this address.
pub(crate) fn serve_gated_on(address: &str, limits: Limits) -> (Server, Gate) {
    let gate = Gate::default();
    (start(address, limits, GatedProvider::new(gate.clone())), gate)
}

/// The same where a model is loaded when a test opens the gate, and batches are evaluated at once.
pub(crate) fn serve_loading(limits: Limits) -> (Server, Opening) {
    let (device, store) = (Gate::default(), Gate::default());
    device.open();
    (start("127.0.0.1:0", limits, GatedProvider { device, store: store.clone() }), Opening(store))
}

fn start(address: &str, limits: Limits, provider: GatedProvider) -> Server {
    let limits = Limits { batch: 4, ..limits };
    let options = Options { limits, ..Options::local(address.parse().unwrap(), 1) };
    Server::start(options, Arc::new(provider), Health::default()).unwrap()
}
