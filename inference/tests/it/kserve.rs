//! The Open Inference Protocol.

use bytes::Bytes;
use remote::Encoding;
use remote::proto::kserve::grpc_inference_service_client::GrpcInferenceServiceClient;
use remote::proto::kserve::model_infer_request::{InferInputTensor, InferRequestedOutputTensor};
use remote::proto::kserve::{
    InferTensorContents, ModelInferRequest, ModelMetadataRequest, ModelReadyRequest, ServerLiveRequest,
    ServerMetadataRequest, ServerReadyRequest,
};
use tonic::Code;

use crate::fixture::{connect, local, options, planes, runtime, serve, shapes};

fn request(input: &str, shape: &[i64], bytes: Vec<u8>) -> ModelInferRequest {
    let tensor = InferInputTensor {
        name: input.to_owned(),
        datatype: "UINT8".to_owned(),
        shape: shape.to_vec(),
        ..InferInputTensor::default()
    };
    ModelInferRequest {
        model_name: "v1-1".to_owned(),
        id: "seven".to_owned(),
        inputs: vec![tensor],
        raw_input_contents: vec![bytes.into()],
        ..ModelInferRequest::default()
    }
}

#[test]
fn kserve_describes_server_and_models() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        assert!(client.server_live(ServerLiveRequest {}).await.unwrap().into_inner().live);
        assert!(client.server_ready(ServerReadyRequest {}).await.unwrap().into_inner().ready);
        assert_eq!(client.server_metadata(ServerMetadataRequest {}).await.unwrap().into_inner().name, "tengen");
        for (name, expected) in [("v1-1", true), ("v1-9", false)] {
            let asked = ModelReadyRequest { name: name.to_owned(), ..ModelReadyRequest::default() };
            assert_eq!(client.model_ready(asked).await.unwrap().into_inner().ready, expected, "{name}");
        }
        let asked = ModelMetadataRequest { name: "v1-1".to_owned(), version: "1".to_owned() };
        let told = client.model_metadata(asked).await.unwrap().into_inner();
        let tensors = [told.inputs, told.outputs].concat();
        let tensors: Vec<_> =
            tensors.iter().map(|it| (it.name.as_str(), it.datatype.as_str(), &it.shape[..])).collect();
        let packing = shapes()[0].inputs.packing(shapes()[0].size);
        let packed = (packing.bits() + packing.scalars()) as i64;
        assert_eq!(
            tensors,
            [
                ("planes", "UINT8", &[-1, 16, 5, 5][..]),
                ("packed", "UINT8", &[-1, packed]),
                ("policy", "FP32", &[-1, 26]),
                ("value", "FP32", &[-1]),
            ]
        );
    });
}

#[test]
fn kserve_outputs_equal_the_local_network_for_planes_and_packed() {
    let server = serve(options());
    let seen = planes(shapes()[0], 7);
    let expected = local(1, &seen).map(|numbers| {
        let mut bytes = vec![0; 4 * numbers.len()];
        Encoding::F32.write(&numbers, &mut bytes);
        Bytes::from(bytes)
    });
    let (mut bits, mut scalars) = (Vec::new(), Vec::new());
    let packing = shapes()[0].inputs.packing(shapes()[0].size);
    packing.pack(&seen, &mut bits, &mut scalars);
    let rows = bits.chunks(packing.bits()).zip(scalars.chunks(packing.scalars()));
    let rows: Vec<u8> = rows.flat_map(|(bits, scalars)| [bits, scalars].concat()).collect();
    let mut as_numbers = request("planes", &[7, 16, 5, 5], Vec::new());
    as_numbers.raw_input_contents.clear();
    let uint_contents = seen.iter().map(|&byte| u32::from(byte)).collect();
    as_numbers.inputs[0].contents = Some(InferTensorContents { uint_contents, ..InferTensorContents::default() });
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        let of_row = (rows.len() / 7) as i64;
        for asked in [request("planes", &[7, 16, 5, 5], seen), request("packed", &[7, of_row], rows), as_numbers] {
            let told = client.model_infer(asked.clone()).await.unwrap().into_inner();
            assert_eq!((told.raw_output_contents, told.id.as_str()), (expected.to_vec(), "seven"));
            let outputs = vec![InferRequestedOutputTensor { name: "value".to_owned(), ..Default::default() }];
            let told = client.model_infer(ModelInferRequest { outputs, ..asked }).await.unwrap().into_inner();
            assert_eq!((told.raw_output_contents, &told.outputs[0].shape), (vec![expected[1].clone()], &vec![7]));
        }
    });
}

#[test]
fn kserve_refuses_what_does_not_fit() {
    let server = serve(options());
    let seen = planes(shapes()[0], 2);
    let good = request("planes", &[2, 16, 5, 5], seen.clone());
    let with_input = |change: fn(&mut InferInputTensor)| {
        let mut asked = good.clone();
        change(&mut asked.inputs[0]);
        asked
    };
    let twos = request("planes", &[2, 16, 5, 5], vec![2; seen.len()]);
    let bad = [
        (with_input(|input| input.name = "images".to_owned()), Code::InvalidArgument),
        (with_input(|input| input.datatype = "FP32".to_owned()), Code::InvalidArgument),
        (with_input(|input| input.shape = vec![2, 16, 7, 7]), Code::InvalidArgument),
        (with_input(|input| input.shape = vec![i64::MAX, 16, 5, 5]), Code::InvalidArgument),
        (with_input(|input| input.shape = vec![-1, 16, 5, 5]), Code::InvalidArgument),
        (with_input(|input| input.shape = Vec::new()), Code::InvalidArgument),
        (request("planes", &[2, 16, 5, 5], seen[1..].to_vec()), Code::InvalidArgument),
        (twos, Code::InvalidArgument),
        (ModelInferRequest { inputs: Vec::new(), ..good.clone() }, Code::InvalidArgument),
        (ModelInferRequest { raw_input_contents: Vec::new(), ..good.clone() }, Code::InvalidArgument),
        (
            ModelInferRequest {
                outputs: vec![InferRequestedOutputTensor { name: "x".into(), ..Default::default() }],
                ..good.clone()
            },
            Code::InvalidArgument,
        ),
        (ModelInferRequest { model_name: "v1-9".to_owned(), ..good.clone() }, Code::NotFound),
        (ModelInferRequest { model_name: "uniform".to_owned(), ..good.clone() }, Code::NotFound),
        (ModelInferRequest { model_name: "../v1".to_owned(), ..good.clone() }, Code::NotFound),
        (ModelInferRequest { model_version: "2".to_owned(), ..good.clone() }, Code::NotFound),
    ];
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        for (asked, code) in bad {
            let status = client.model_infer(asked.clone()).await.expect_err("refused");
            assert_eq!(status.code(), code, "{status}");
        }
        client.model_infer(good).await.unwrap();
    });
}
