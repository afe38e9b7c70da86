//! Servers die, hang, drain and come back.

use std::time::Duration;

use super::{MS, SETTINGS, World, exhausted, later};
use crate::pool::{Failure, Outcome, Reply, Settings, State};

const LOCAL: fn() -> Settings = || Settings { local: true, ..SETTINGS };

/// Lets the servers of a list refuse their connections for so long.
fn refuse(world: &mut World, servers: &[usize], time: Duration) {
    let end = world.now + time;
    while world.now < end {
        for &server in servers {
            if world.open[server].is_some() {
                world.cut(server);
            }
        }
        world.pass(10 * MS);
    }
}

#[test]
fn batch_waits_for_the_first_tier_before_a_lower_one() {
    let mut world = World::new(&[0, 1], SETTINGS, 1);
    let batch = world.submit(8);
    world.welcome(1);
    world.pass(100 * MS);
    assert!(world.sent.is_empty(), "the first tier was not heard of yet");
    world.cut(0);
    assert_eq!(world.at(batch), [1]);
}

#[test]
fn forgotten_batch_is_not_sent_and_its_response_is_late() {
    let mut world = World::new(&[0], SETTINGS, 1);
    let [gone, wanted] = [(); 2].map(|()| world.submit(8));
    world.pool.forget(gone);
    world.welcome(0);
    assert_eq!([gone, wanted].map(|batch| world.at(batch)), [vec![], vec![0]], "the server begins with one");
    world.evaluate(0, wanted);
    let sent = world.submit(8);
    world.pool.forget(sent);
    world.pass(1000 * MS);
    world.evaluate(0, sent);
    assert_eq!(world.pool.servers()[0].counts.late, 1);
    assert!([gone, sent].iter().all(|batch| !world.done.contains_key(batch)));
    assert_eq!(world.round(), 0);
}

#[test]
fn unreachable_server_is_down_after_half_a_second() {
    let mut world = World::new(&[0, 1], SETTINGS, 1);
    let batch = world.submit(8);
    world.welcome(1);
    world.pass(499 * MS);
    assert!(world.sent.is_empty());
    world.pass(MS);
    assert_eq!(world.at(batch), [1]);
}

#[test]
fn outstanding_batches_of_a_dead_server_go_to_another_at_once() {
    let mut world = World::up(&[0, 0], SETTINGS);
    world.rounds(40);
    let batches: Vec<u64> = (0..10).map(|_| world.submit(8)).collect();
    let lost = batches.iter().filter(|&&batch| world.at(batch) == [0]).count();
    assert_eq!(lost, 5);
    world.cut(0);
    assert!(batches.iter().all(|&batch| world.at(batch) == [1]), "no time has passed");
    assert_eq!(world.pool.servers()[0].counts.resent, 5);
    assert!(matches!(world.states.last(), Some((0, State::Down { .. }))));
}

#[test]
fn silent_server_is_suspect_at_the_deadline_and_another_evaluates() {
    let mut world = World::up(&[0, 0], SETTINGS);
    world.rounds(40);
    let batches: Vec<u64> = (0..2).map(|_| world.submit(8)).collect();
    let stuck = *batches.iter().find(|&&batch| world.at(batch) == [0]).expect("one each");
    let other = *batches.iter().find(|&&batch| world.at(batch) == [1]).expect("one each");
    world.evaluate(1, other);
    world.pass(249 * MS);
    assert_eq!(world.at(stuck), [0]);
    world.pass(MS);
    assert_eq!(world.at(stuck), [0, 1]);
    assert!(matches!(world.states.last(), Some((0, State::Suspect { .. }))));
    world.evaluate(1, stuck);
    assert_eq!(world.done[&stuck], Outcome::Answered);
    // The late answer is dropped; the server is up, and settles.
    world.evaluate(0, stuck);
    assert_eq!(world.pool.servers()[0].counts.late, 1);
    assert!(matches!(world.states.last(), Some((0, State::Up { .. }))));
    assert!((0..20).all(|_| world.round() == 1));
    world.pass(1125 * MS);
    assert!((0..20).any(|_| world.round() == 0));
}

#[test]
fn suspect_gets_no_batches_and_all_of_its_own_go_elsewhere() {
    let mut world = World::up(&[0, 1], SETTINGS);
    world.round();
    let first = world.submit(8);
    world.pass(100 * MS);
    let second = world.submit(8);
    world.pass(150 * MS);
    assert_eq!([first, second].map(|batch| world.at(batch)), [vec![0, 1], vec![0]], "the other server begins with one");
    world.evaluate(1, first);
    assert_eq!(world.at(second), [0, 1]);
    world.evaluate(1, second);
    assert!((0..5).all(|_| world.round() == 1));
}

#[test]
fn server_that_responds_keeps_other_batches_while_one_is_overdue() {
    let mut world = World::up(&[0, 1], SETTINGS);
    world.rounds(10);
    let stuck = world.submit(8);
    for _ in 0..25 {
        assert_eq!(world.round(), 0);
        world.pass(10 * MS);
    }
    assert_eq!(world.at(stuck), [0, 1]);
    assert_eq!(world.round(), 0, "it answers, so it is up");
}

#[test]
fn late_response_counts_if_no_other_server_has_the_batch() {
    let mut world = World::up(&[0], SETTINGS);
    let batch = world.submit(8);
    assert_eq!(world.sent[0].deadline, None, "no other server can evaluate it");
    world.pass(2000 * MS);
    assert_eq!(world.at(batch), [0]);
    world.evaluate(0, batch);
    assert_eq!(world.done[&batch], Outcome::Answered);
    let batch = world.submit(8);
    world.pass(2000 * MS);
    assert!(matches!(world.pool.servers()[0].state, State::Suspect { .. }));
    world.evaluate(0, batch);
    // From now on it has longer.
    let batch = world.submit(8);
    world.pass(2500 * MS);
    assert!(matches!(world.pool.servers()[0].state, State::Up { .. }));
    world.evaluate(0, batch);
}

#[test]
fn server_has_longer_for_the_first_batch_of_a_model() {
    let mut world = World::up(&[0, 1], Settings::DEFAULT);
    let batch = world.submit(8);
    assert_eq!(world.sent[0].deadline, None);
    world.load(0, 9999 * MS);
    assert_eq!(world.at(batch), [0]);
    world.evaluate(0, batch);
    let batch = world.submit(8);
    assert_eq!(world.sent[0].deadline, Some(250 * MS));
    world.pass(250 * MS);
    assert_eq!(world.at(batch), [0, 1]);
    world.evaluate(1, batch);
    // After a restart it has to load the model again.
    world.cut(0);
    refuse(&mut world, &[0], 3000 * MS);
    while world.open[0].is_none() {
        world.pass(MS);
    }
    world.welcome(0);
    world.pass(1250 * MS);
    let batch = world.submit(8);
    world.load(0, 5000 * MS);
    assert_eq!(world.at(batch), [0]);
    // Ten seconds at most.
    world.load(0, 5000 * MS);
    assert_eq!(world.at(batch), [0, 1]);
}

#[test]
fn stopped_server_that_has_to_load_a_model_is_suspect_at_the_deadline() {
    let mut world = World::up(&[0, 1], Settings::DEFAULT);
    // It has the batch when it is stopped.
    let batch = world.submit(8);
    world.load(0, 3000 * MS);
    world.pass(249 * MS);
    assert_eq!(world.at(batch), [0]);
    world.pass(MS);
    assert_eq!(world.at(batch), [0, 1]);
    assert!(matches!(world.states.last(), Some((0, State::Suspect { .. }))));
    world.evaluate(1, batch);
    // It goes on to load the model, and is up.
    world.load(0, 80 * MS);
    assert!(matches!(world.states.last(), Some((0, State::Up { .. }))));
    // It is stopped when it gets the first batch of the model.
    let mut world = World::up(&[0, 1], Settings::DEFAULT);
    world.pass(1500 * MS);
    let batch = world.submit(8);
    world.pass(249 * MS);
    assert_eq!(world.at(batch), [0]);
    world.pass(MS);
    assert_eq!(world.at(batch), [0, 1]);
}

#[test]
fn stuck_device_of_a_server_that_is_not_silent_makes_it_suspect() {
    let mut world = World::up(&[0, 1], Settings::DEFAULT);
    world.rounds(3);
    let stuck = world.submit(8);
    world.load(0, 240 * MS);
    assert_eq!(world.at(stuck), [0]);
    world.load(0, 80 * MS);
    assert_eq!(world.at(stuck), [0, 1]);
    assert!(matches!(world.states.last(), Some((0, State::Suspect { .. }))), "credit is no evaluation");
    world.evaluate(1, stuck);
    assert!((0..5).all(|_| world.round() == 1));
    world.evaluate(0, stuck);
    assert!(matches!(world.states.last(), Some((0, State::Up { .. }))));
}

#[test]
fn draining_server_loses_its_batches_to_another() {
    let mut world = World::up(&[0, 1], SETTINGS);
    world.rounds(5);
    let batches = [world.submit(8), world.submit(8)];
    world.reply(0, batches[1], Reply::Draining);
    assert_eq!(world.open[0], None);
    assert_eq!(world.at(batches[0]), [1]);
    world.evaluate(1, batches[0]);
    world.evaluate(1, batches[1]);
}

#[test]
fn first_tier_takes_over_again_after_it_was_up_for_a_while() {
    let mut world = World::up(&[0, 1], SETTINGS);
    assert_eq!(world.round(), 0);
    world.cut(0);
    refuse(&mut world, &[0], 10_000 * MS);
    assert_eq!(world.round(), 1);
    let back = world.now;
    while world.open[0].is_none() {
        world.pass(MS);
    }
    world.welcome(0);
    let up = world.now;
    while world.round() == 1 {
        world.pass(MS);
    }
    assert!(world.now - up >= 650 * MS, "{:?}", world.now - up);
    assert!(world.now - back <= 2000 * MS, "{:?}", world.now - back);
}

#[test]
fn traffic_is_back_within_two_seconds_of_a_line_whenever_that_is_repaired() {
    for seed in 0..20 {
        for lost in 0..80 {
            let mut world = World::new(&[0, 1], SETTINGS, seed);
            (0..2).for_each(|server| world.welcome(server));
            assert_eq!(world.round(), 0);
            world.cut(0);
            // Nothing answers what is sent meanwhile.
            world.pass(3000 * MS + 10 * MS * lost);
            let (back, hangs) = (world.now, world.open[0]);
            // A try that has begun already is lost, and the next one succeeds.
            while world.open[0].is_none() || world.open[0] == hangs {
                world.pass(MS);
            }
            world.welcome(0);
            while world.round() == 1 {
                world.pass(MS);
            }
            assert!(world.now - back < 1900 * MS, "{:?}", world.now - back);
        }
    }
}

#[test]
fn returning_server_is_used_at_once_where_there_is_no_other() {
    let mut world = World::up(&[0], SETTINGS);
    world.cut(0);
    let batch = world.submit(8);
    refuse(&mut world, &[0], 3000 * MS);
    while world.open[0].is_none() {
        world.pass(MS);
    }
    world.welcome(0);
    assert_eq!(world.at(batch), [0]);
}

/// When clients are connected to a server that is back, and have batches from it. One that was down refuses
/// connections, and one that was stopped accepts what waits when it goes on.
fn returns(clients: u64, was_stopped: bool) -> [Vec<Duration>; 2] {
    let (mut connected, mut returned) = (Vec::new(), Vec::new());
    for seed in 0..clients {
        let mut world = World::new(&[0, 1], SETTINGS, seed);
        (0..2).for_each(|server| world.welcome(server));
        world.cut(0);
        if was_stopped {
            world.pass(10_000 * MS);
        } else {
            refuse(&mut world, &[0], 10_000 * MS);
        }
        let back = world.now;
        while world.open[0].is_none() {
            world.pass(MS);
        }
        connected.push(world.now - back);
        world.welcome(0);
        while world.round() == 1 {
            world.pass(5 * MS);
        }
        returned.push(world.now - back);
    }
    [connected, returned]
}

/// All within 2 s, and no tenth of a second sees a quarter of them.
fn assert_spread(times: &[Duration]) {
    assert!(times.iter().all(|&time| time <= 2000 * MS));
    for slot in 0..20 {
        let slot = 100 * MS * slot..100 * MS * (slot + 1);
        let count = times.iter().filter(|time| slot.contains(*time)).count();
        assert!(4 * count < times.len(), "{count} of {} in {slot:?}", times.len());
    }
}

#[test]
fn clients_that_lost_a_server_together_come_back_one_by_one() {
    let [connected, returned] = returns(200, false);
    assert_spread(&connected);
    assert_spread(&returned);
    // Connections to a stopped server wait already.
    let [_, returned] = returns(200, true);
    assert_spread(&returned);
}

#[test]
fn caller_evaluates_while_every_server_is_down() {
    let mut world = World::new(&[0, 1], LOCAL(), 1);
    let first = world.submit(8);
    assert!(world.done.is_empty(), "no server was heard of yet");
    (0..2).for_each(|server| world.cut(server));
    assert_eq!(world.done[&first], Outcome::Local);
    refuse(&mut world, &[0, 1], 3000 * MS);
    while world.open[1].is_none() {
        world.pass(MS);
    }
    world.welcome(1);
    let second = world.submit(8);
    assert_eq!(world.done[&second], Outcome::Local, "the server is not settled");
    world.pass(1250 * MS);
    assert_eq!(world.round(), 1);
    let third = world.submit(8);
    world.cut(1);
    assert_eq!(world.done[&third], Outcome::Local);
    assert_eq!(world.pool.servers()[1].counts.resent, 1);
}

#[test]
fn caller_evaluates_what_every_server_refuses_or_is_too_slow_for() {
    let mut world = World::up(&[0], LOCAL());
    let batch = world.submit(8);
    world.reply(0, batch, Reply::Refused { reason: "no such model".to_owned() });
    assert_eq!(world.done[&batch], Outcome::Local);
    world.round();
    let batch = world.submit(8);
    assert_eq!(world.sent[0].deadline, Some(250 * MS));
    world.pass(250 * MS);
    assert_eq!(world.done[&batch], Outcome::Local);
}

#[test]
fn batch_that_no_server_takes_fails_after_the_patience() {
    let settings = Settings { patience: 20_000 * MS, ..SETTINGS };
    let mut world = World::new(&[0], settings, 1);
    let batch = world.submit(8);
    refuse(&mut world, &[0], 19_900 * MS);
    assert!(world.done.is_empty());
    refuse(&mut world, &[0], 200 * MS);
    assert!(matches!(world.done[&batch], Outcome::Failed(Failure::NoServer { waited }) if waited >= 20_000 * MS));
    // A server that takes it each time, and does not evaluate it, is as good as none.
    let mut world = World::up(&[0], settings);
    let batch = world.submit(8);
    while world.done.is_empty() && world.now < 30_000 * MS {
        world.reply(0, batch, exhausted(Some(100 * MS)));
        world.pass(100 * MS);
    }
    assert!(matches!(world.done[&batch], Outcome::Failed(Failure::NoServer { waited }) if waited >= 20_000 * MS));
    // Shutdown is less patient.
    world.cut(0);
    let batch = world.submit(8);
    world.pool.set_patience(1000 * MS);
    refuse(&mut world, &[0], 1100 * MS);
    assert!(world.done.contains_key(&batch));
}

#[test]
fn batch_whose_server_loads_a_model_fails_soon_where_the_process_is_to_stop() {
    let mut world = World::up(&[0], Settings::DEFAULT);
    let batch = world.submit(8);
    world.load(0, 500 * MS);
    world.pool.set_patience(1000 * MS);
    world.load(0, 480 * MS);
    assert!(world.done.is_empty());
    world.load(0, 80 * MS);
    assert!(matches!(world.done[&batch], Outcome::Failed(Failure::NoServer { waited }) if waited == 1000 * MS));
    // The late response is dropped, and the server is used on.
    world.evaluate(0, batch);
    assert_eq!(world.pool.servers()[0].counts.late, 1);
    assert_eq!(world.round(), 0);
}

const REFUSED: fn() -> Reply = || Reply::Refused { reason: "no such model".to_owned() };

#[test]
fn batch_that_one_server_refuses_waits_for_another_that_restarts() {
    let mut world = World::up(&[0, 0], SETTINGS);
    world.cut(1);
    let batch = world.submit(8);
    let mut refusals = 0;
    for _ in 0..500 {
        if world.at(batch) == [0] {
            refusals += 1;
            world.reply(0, batch, REFUSED());
        }
        refuse(&mut world, &[1], 10 * MS);
    }
    assert!(world.done.is_empty(), "{:?}", world.done);
    assert_eq!((refusals, world.at(batch)), (5, vec![0]), "it is asked again each second");
    world.reply(0, batch, REFUSED());
    while world.open[1].is_none() {
        world.pass(MS);
    }
    world.welcome(1);
    assert_eq!(world.at(batch), [1]);
    world.evaluate(1, batch);
    assert_eq!(world.done[&batch], Outcome::Answered);
}

#[test]
fn batch_that_one_server_refuses_waits_for_another_that_is_full() {
    let mut world = World::up(&[0, 0], SETTINGS);
    let batch = world.submit(8);
    for _ in 0..500 {
        for server in world.at(batch) {
            let full = exhausted(Some(70 * MS));
            world.reply(server, batch, if server == 0 { REFUSED() } else { full });
        }
        world.pass(10 * MS);
    }
    assert!(world.done.is_empty(), "{:?}", world.done);
    for _ in 0..100 {
        if world.at(batch) == [0] {
            world.reply(0, batch, REFUSED());
        }
        world.pass(10 * MS);
    }
    // It has space.
    world.evaluate(1, batch);
    assert_eq!(world.done[&batch], Outcome::Answered);
}

/// The model is new to the first server, and the device of the second fails.
#[test]
fn server_that_refused_a_batch_is_asked_again_beside_one_that_fails() {
    let mut world = World::up(&[0, 0], SETTINGS);
    let batch = world.submit(8);
    let mut refusals = 0;
    for _ in 0..500 {
        for server in world.at(batch) {
            refusals += usize::from(server == 0);
            let fails = later(1000 * MS);
            world.reply(server, batch, if server == 0 { REFUSED() } else { fails });
        }
        world.pass(10 * MS);
    }
    assert!(world.done.is_empty(), "{:?}", world.done);
    assert!((4..=6).contains(&refusals), "it is asked each second: {refusals}");
}

#[test]
fn stuck_server_is_noticed_by_a_batch_that_is_forgotten() {
    let mut world = World::up(&[0, 1], SETTINGS);
    let stopped = world.submit(8);
    assert_eq!(world.at(stopped), [0]);
    world.pool.forget(stopped);
    let next = world.submit(8);
    world.pass(1000 * MS);
    assert_eq!(world.at(next).last(), Some(&1));
}

#[test]
fn server_that_is_gone_for_the_patience_is_not_waited_for_where_others_refuse() {
    let mut world = World::up(&[0, 0], Settings { patience: 20_000 * MS, ..SETTINGS });
    world.cut(1);
    refuse(&mut world, &[1], 20_000 * MS);
    let batch = world.submit(8);
    let began = world.now;
    while world.done.is_empty() && world.now - began < 10_000 * MS {
        if world.at(batch) == [0] {
            world.reply(0, batch, REFUSED());
        }
        refuse(&mut world, &[1], 10 * MS);
    }
    assert!(matches!(world.done[&batch], Outcome::Failed(Failure::Refused { server: 0, .. })), "{:?}", world.done);
}

#[test]
fn connection_with_a_batch_without_response_is_closed() {
    let mut world = World::up(&[0], SETTINGS);
    let stuck = world.submit(8);
    for _ in 0..60 {
        world.pass(1000 * MS);
    }
    assert!(world.done.is_empty() && world.sent.is_empty());
    while world.open[0].is_none() {
        world.pass(MS);
    }
    world.welcome(0);
    world.evaluate(0, stuck);
}

#[test]
fn connection_of_a_slow_server_that_sends_its_credit_is_kept() {
    let mut world = World::up(&[0], SETTINGS);
    let slow = world.submit(8);
    let connection = world.open[0];
    world.load(0, 239_000 * MS);
    assert_eq!((world.open[0], world.at(slow)), (connection, vec![0]));
    world.evaluate(0, slow);
    assert_eq!(world.done[&slow], Outcome::Answered);
    // One that has lost a batch does not keep it for ever.
    let lost = world.submit(8);
    world.load(0, 239_000 * MS);
    assert_eq!(world.at(lost), [0]);
    world.pass(1000 * MS);
    assert!(world.at(lost).is_empty() && world.done.len() == 1);
    // There is time for another connection.
    while world.open[0].is_none() {
        world.pass(MS);
    }
    world.welcome(0);
    world.evaluate(0, lost);
    assert_eq!(world.done[&lost], Outcome::Answered);
}
