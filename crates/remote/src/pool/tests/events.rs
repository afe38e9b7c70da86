//! Responses, credits, refusals.

use std::time::Duration;

use super::{CREDIT, MS, SETTINGS, World, exhausted, later};
use crate::pool::{Counts, Event, Failure, Outcome, Reply, Settings};

#[test]
fn batches_go_to_the_server_with_the_fewest_outstanding_positions_per_credit() {
    let mut world = World::up(&[0, 0], SETTINGS);
    // Wide windows first.
    world.rounds(40);
    let small = world.open[1].expect("it is up").0;
    world.handle(small, Event::Credit { credit: CREDIT / 4 });
    let batches: Vec<u64> = (0..40).map(|_| world.submit(8)).collect();
    let first = batches.iter().filter(|&&batch| world.at(batch) == [0]).count();
    assert_eq!(first, 32, "four of five go to the server with four times the credit");
    assert_eq!([0, 1].map(|server| world.pool.servers()[server].outstanding), [256, 64]);
}

#[test]
fn chance_decides_between_servers_that_are_equal() {
    let mut world = World::up(&[0, 0], SETTINGS);
    let first = (0..200).filter(|_| world.round() == 0).count();
    assert!((60..140).contains(&first), "{first} of 200");
}

#[test]
fn batches_beyond_the_credit_wait_for_responses() {
    let mut world = World::up(&[0], SETTINGS);
    while world.pool.servers()[0].counts.answered < 10 {
        world.round();
    }
    let batches: Vec<u64> = (0..30).map(|_| world.submit(100)).collect();
    assert_eq!(world.sent.len(), 10, "the credit is 1000");
    world.evaluate(0, batches[3]);
    assert_eq!(world.at(batches[10]), [0]);
    let connection = world.open[0].expect("it is up").0;
    world.handle(connection, Event::Credit { credit: 500 });
    (0..5).for_each(|nth| world.evaluate(0, [0, 1, 2, 4, 5].map(|nth| batches[nth])[nth]));
    assert_eq!(world.sent.len(), 5, "a smaller credit holds for what is sent afterwards");
    world.evaluate(0, batches[6]);
    assert_eq!(world.sent.len(), 5);
}

#[test]
fn server_begins_with_one_batch_and_doubles() {
    let mut world = World::up(&[0], SETTINGS);
    let batches: Vec<u64> = (0..20).map(|_| world.submit(10)).collect();
    let mut outstanding = vec![world.sent.len()];
    for &batch in &batches[..5] {
        world.evaluate(0, batch);
        outstanding.push(world.sent.len());
    }
    assert_eq!(outstanding, [1, 2, 4, 8, 16, 15]);
}

#[test]
fn exhausted_server_gets_no_batch_for_its_retry_delay() {
    let mut world = World::up(&[0], SETTINGS);
    let batch = world.submit(8);
    world.reply(0, batch, exhausted(Some(70 * MS)));
    world.pass(69 * MS);
    assert!(world.sent.is_empty());
    world.pass(MS);
    assert_eq!(world.at(batch), [0]);
    world.reply(0, batch, exhausted(None));
    world.pass(10 * MS);
    assert_eq!(world.at(batch), [0]);
    world.evaluate(0, batch);
    assert_eq!(world.done[&batch], Outcome::Answered);
}

#[test]
fn exhausted_server_is_no_reason_for_a_lower_tier() {
    let mut world = World::up(&[0, 0, 1], SETTINGS);
    let batch = world.submit(8);
    let first = world.at(batch)[0];
    world.reply(first, batch, exhausted(Some(70 * MS)));
    let second = world.at(batch)[0];
    assert_eq!(first + second, 1, "the other server of the tier");
    world.reply(second, batch, exhausted(Some(70 * MS)));
    assert!(world.sent.is_empty());
    world.pass(70 * MS);
    assert!(world.at(batch)[0] < 2);
}

/// The first server is full until a time.
fn exhaust(world: &mut World, time: Duration) {
    let end = world.now + time;
    while world.now < end {
        while let Some(sent) = world.sent.iter().find(|sent| sent.connection.server == 0).copied() {
            world.reply(0, sent.batch, exhausted(Some(70 * MS)));
        }
        world.pass(10 * MS);
    }
}

#[test]
fn server_that_stays_exhausted_for_the_deadline_loses_its_batches_to_a_lower_tier() {
    let mut world = World::up(&[0, 1], SETTINGS);
    let batch = world.submit(8);
    exhaust(&mut world, 240 * MS);
    assert_ne!(world.at(batch), [1], "room may come soon");
    exhaust(&mut world, 20 * MS);
    assert_eq!(world.at(batch), [1]);
    world.evaluate(1, batch);
    // From now on a batch does not wait for it, except for one at a time that looks for room.
    let batches: Vec<u64> = (0..20).map(|_| world.submit(8)).collect();
    exhaust(&mut world, 10 * MS);
    while let Some(&batch) = batches.iter().find(|&&batch| world.at(batch) == [1]) {
        world.evaluate(1, batch);
    }
    assert!(batches.iter().all(|batch| world.done.contains_key(batch)));
    // It has room.
    world.pass(70 * MS);
    let batch = world.submit(8);
    assert_eq!(world.at(batch), [0]);
    world.evaluate(0, batch);
    assert!((0..20).all(|_| world.round() == 0), "the first tier has the traffic again");
}

#[test]
fn caller_evaluates_what_exhausted_servers_have_no_room_for() {
    let mut world = World::up(&[0], Settings { local: true, ..SETTINGS });
    let batch = world.submit(8);
    exhaust(&mut world, 240 * MS);
    assert!(world.done.is_empty());
    exhaust(&mut world, 20 * MS);
    assert_eq!(world.done[&batch], Outcome::Local);
}

#[test]
fn batch_that_an_overloaded_server_turns_away_goes_to_a_lower_tier() {
    let mut world = World::up(&[0, 1], SETTINGS);
    world.rounds(10);
    let unlucky = world.submit(8);
    for _ in 0..25 {
        let lucky = world.submit(8);
        assert_eq!([unlucky, lucky].map(|batch| world.at(batch)), [[0], [0]]);
        world.evaluate(0, lucky);
        world.reply(0, unlucky, exhausted(None));
        world.pass(10 * MS);
    }
    world.reply(0, unlucky, exhausted(None));
    assert_eq!(world.at(unlucky), [1]);
    world.pass(10 * MS);
    assert_eq!(world.round(), 0, "others stay where there is room");
}

#[test]
fn batches_beyond_the_window_are_no_reason_for_a_lower_tier() {
    let mut world = World::up(&[0, 1], SETTINGS);
    world.rounds(40);
    let batches: Vec<u64> = (0..200).map(|_| world.submit(8)).collect();
    for _ in 0..20 {
        for _ in 0..10 {
            let first = world.sent[0].batch;
            world.evaluate(0, first);
        }
        assert!(batches.iter().all(|&batch| world.at(batch) != [1]));
        world.pass(10 * MS);
    }
    assert_eq!(world.done.len(), 240);
}

#[test]
fn server_that_cannot_load_a_model_for_now_serves_others_meanwhile() {
    let mut world = World::up(&[0, 1], SETTINGS);
    let batch = world.submit(8);
    world.reply(0, batch, later(1000 * MS));
    assert_eq!(world.at(batch), [1]);
    world.reply(1, batch, later(1000 * MS));
    assert!((0..5).all(|_| world.round() == 0), "it has its connection, and no pause");
    world.pass(999 * MS);
    assert!(world.at(batch).is_empty());
    world.pass(MS);
    assert_eq!(world.at(batch), [0]);
}

#[test]
fn refused_batch_is_sent_to_another_server() {
    let mut world = World::up(&[0, 1], SETTINGS);
    let batch = world.submit(8);
    world.reply(0, batch, Reply::Refused { reason: "no such model".to_owned() });
    assert_eq!(world.at(batch), [1]);
    world.evaluate(1, batch);
    assert_eq!(world.done[&batch], Outcome::Answered);
    let other = world.submit(8);
    assert_eq!(world.at(other), [0], "another batch is offered to it");
}

#[test]
fn batch_that_all_servers_refuse_fails_after_three_rounds() {
    let mut world = World::up(&[0, 0], SETTINGS);
    let batch = world.submit(8);
    let mut refusals = 0;
    while !world.done.contains_key(&batch) {
        let servers = world.at(batch);
        for &server in &servers {
            refusals += 1;
            world.reply(server, batch, Reply::Refused { reason: format!("{server} has no such model") });
        }
        if servers.is_empty() {
            world.pass(1000 * MS);
        }
    }
    assert_eq!((refusals, world.now), (6, 2000 * MS));
    let Outcome::Failed(Failure::Refused { server, reason }) = &world.done[&batch] else { panic!("{:?}", world.done) };
    assert_eq!(reason, &format!("{server} has no such model"));
}

#[test]
fn invalid_batch_fails_at_once() {
    let mut world = World::up(&[0, 0], SETTINGS);
    let batch = world.submit(8);
    let server = world.at(batch)[0];
    world.reply(server, batch, Reply::Invalid { reason: "7 planes".to_owned() });
    assert_eq!(world.done[&batch], Outcome::Failed(Failure::Invalid { server, reason: "7 planes".to_owned() }));
}

#[test]
fn batch_larger_than_the_credit_is_sent_alone() {
    let mut world = World::up(&[0], SETTINGS);
    let batches = [world.submit(2 * CREDIT), world.submit(1)];
    assert_eq!(batches.map(|batch| world.at(batch)), [vec![0], vec![]]);
    world.evaluate(0, batches[0]);
    assert_eq!(world.at(batches[1]), [0]);
}

#[test]
fn batch_larger_than_a_server_takes_fails_at_once() {
    let mut world = World::up(&[0, 1], SETTINGS);
    let batch = world.submit(2 * CREDIT + 1);
    assert_eq!(world.done[&batch], Outcome::Failed(Failure::TooLarge { most: 2 * CREDIT }));
}

#[test]
fn responses_to_unknown_attempts_and_of_earlier_connections_are_dropped() {
    let mut world = World::up(&[0], SETTINGS);
    let batch = world.submit(8);
    let (connection, _) = world.open[0].expect("it is up");
    world.handle(connection, Event::Answer { attempt: 77, reply: Reply::Evaluated });
    assert_eq!(world.pool.servers()[0].counts, Counts { late: 1, ..Counts::default() });
    let earlier = world.sent[0].attempt;
    world.cut(0);
    world.pass(100 * MS);
    world.welcome(0);
    assert_eq!(world.at(batch), [0]);
    world.handle(connection, Event::Answer { attempt: earlier, reply: Reply::Evaluated });
    world.handle(connection, Event::Gone { problem: String::new() });
    assert!(world.done.is_empty() && world.at(batch) == [0]);
    world.evaluate(0, batch);
    assert_eq!(world.pool.servers()[0].counts, Counts { answered: 1, resent: 1, late: 1 });
}
