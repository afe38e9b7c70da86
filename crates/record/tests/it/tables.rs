//! Tables that are not as they should be.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, Float32Array, Int8Array, ListArray, RecordBatch, StringArray, UInt8Array, UInt16Array,
};
use arrow_schema::{DataType, Field, Schema};
use record::{Example, ExampleRows, RecordError, SearchKind, Turn, VERSION_KEY, examples, games};

use crate::some_games;

fn some_examples(count: u64) -> Vec<Example> {
    some_games(count).iter().flat_map(|game| game.examples().unwrap()).collect()
}

#[test]
fn every_column_says_what_it_holds() {
    for schema in [games::schema(), games::unfinished::schema(), examples::schema()] {
        for field in schema.fields() {
            assert!(field.metadata().get("doc").is_some_and(|doc| doc.len() > 10), "{}", field.name());
        }
    }
    assert_eq!(games::schema().metadata().get(VERSION_KEY), Some("games/6".into()).as_ref());
}

/// The table with one column replaced, or left out.
fn with(batch: &RecordBatch, name: &str, values: Option<ArrayRef>) -> RecordBatch {
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        match (&values, field.name() == name) {
            (_, false) => columns.push((field.as_ref().clone(), Arc::clone(column))),
            (Some(values), true) => {
                columns.push((Field::new(name, values.data_type().clone(), true), Arc::clone(values)));
            }
            (None, true) => {}
        }
    }
    let (fields, values): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let schema = Schema::new(fields).with_metadata(batch.schema().metadata().clone());
    RecordBatch::try_new(Arc::new(schema), values).unwrap()
}

fn refused(batch: &RecordBatch) -> String {
    let error = ExampleRows::from_batch(batch).unwrap_err();
    assert_eq!(examples::from_batch(batch).unwrap_err(), error);
    error.to_string()
}

#[test]
fn other_versions_are_refused() {
    let batch = examples::to_batch(&some_examples(1));
    let renamed = |schema| RecordBatch::try_new(Arc::new(schema), batch.columns().to_vec()).unwrap();
    let other = batch.schema().as_ref().clone().with_metadata([(VERSION_KEY, "examples/9")]);
    assert_eq!(refused(&renamed(other)), "expected a table of version examples/5, found examples/9");
    let none = Schema::new(batch.schema().fields().clone());
    assert_eq!(refused(&renamed(none)), "expected a table of version examples/5, found none");
    let games = games::to_batch(&some_games(1));
    assert_eq!(refused(&games), "expected a table of version examples/5, found games/6");
}

#[test]
fn wrong_columns_are_named() {
    let batch = examples::to_batch(&some_examples(1));
    assert_eq!(refused(&with(&batch, "recent", None)), "column recent is missing");
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(vec!["x"; batch.num_rows()]));
    assert_eq!(refused(&with(&batch, "turn", Some(texts))), "column turn holds Utf8, expected UInt16");
    let mut values: Vec<Option<f32>> = vec![Some(0.0); batch.num_rows()];
    values[4] = None;
    let holes: ArrayRef = Arc::new(Float32Array::from(values));
    assert_eq!(refused(&with(&batch, "root_value", Some(holes))), "column root_value, row 4: no value");
}

#[test]
fn wrong_values_are_named_with_their_row() {
    let batch = examples::to_batch(&some_examples(1));
    let rows = batch.num_rows();
    let mut outcomes = vec![1_i8; rows];
    outcomes[3] = 2;
    let outcomes: ArrayRef = Arc::new(Int8Array::from(outcomes));
    assert_eq!(refused(&with(&batch, "outcome", Some(outcomes))), "column outcome, row 3: 2 is not 1, -1 or 0");
    let smaller: ArrayRef = Arc::new(UInt8Array::from(vec![5; rows]));
    assert_eq!(
        refused(&with(&batch, "size", Some(smaller))),
        "column base_black, row 0: 11 bytes make no board of 5x5"
    );
    let black = Arc::clone(batch.column_by_name("base_black").unwrap());
    let message = refused(&with(&batch, "base_white", Some(black)));
    let mut weights = vec![1.0_f32; rows];
    weights[2] = 0.0;
    let weights: ArrayRef = Arc::new(Float32Array::from(weights));
    assert_eq!(refused(&with(&batch, "weight", Some(weights))), "column weight, row 2: 0 is not a number above 0");
    let moves: ArrayRef = Arc::new(UInt16Array::from_iter_values((0..rows).map(|row| 78 + row as u16)));
    assert_eq!(
        refused(&with(&batch, "opponent_move", Some(moves))),
        "column opponent_move, row 4: move 82 does not exist on 9x9"
    );
    assert!(message.starts_with("column base_white, row ") && message.contains("two stones on point"), "{message}");
}

/// They would be inputs and targets of training.
#[test]
fn rows_that_make_no_example_are_refused() {
    let batch = examples::to_batch(&some_examples(1));
    let rows = batch.num_rows();
    let mut komi = vec![7.5_f32; rows];
    komi[1] = f32::NAN;
    let komi: ArrayRef = Arc::new(Float32Array::from(komi));
    assert_eq!(refused(&with(&batch, "komi", Some(komi))), "column komi, row 1: NaN is not finite");
    for (code, name) in [(0, "given"), (4, "policy draw")] {
        let mut kinds = vec![1_u8; rows];
        kinds[2] = code;
        let kinds: ArrayRef = Arc::new(UInt8Array::from(kinds));
        let said = refused(&with(&batch, "search_kind", Some(kinds)));
        assert_eq!(said, format!("column search_kind, row 2: {code} ({name}) makes no example"));
    }
    let mut examples = some_examples(1);
    examples[3].visits.clear();
    assert_eq!(refused(&examples::to_batch(&examples)), "column visit_moves, row 3: no visits");
}

#[test]
fn games_with_a_komi_that_is_no_number_are_refused() {
    for komi in [f32::NAN, f32::INFINITY] {
        let mut some = some_games(2);
        some[1].komi = komi;
        let said = games::from_batch(&games::to_batch(&some)).unwrap_err().to_string();
        assert_eq!(said, format!("column komi, row 1: {komi} is not finite"));
    }
}

#[test]
fn unknown_columns_are_ignored() {
    let examples = some_examples(2);
    let batch = examples::to_batch(&examples);
    let mut fields: Vec<Field> = batch.schema().fields().iter().map(|f| f.as_ref().clone()).collect();
    fields.insert(0, Field::new("later", DataType::Int8, false));
    let mut columns = batch.columns().to_vec();
    columns.insert(0, Arc::new(Int8Array::from(vec![7; batch.num_rows()])));
    let schema = Schema::new(fields).with_metadata(batch.schema().metadata().clone());
    let wider = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    assert_eq!(ExampleRows::from_batch(&wider).unwrap(), ExampleRows::from_examples(&examples));
}

#[test]
fn policy_surprises_are_read_alone_and_checked() {
    let examples = some_examples(1);
    let batch = examples::to_batch(&examples);
    let found = examples::surprises(&batch).unwrap();
    assert_eq!(found.len(), examples.len());
    assert!(found.iter().all(|found| found.policy.is_some()));
    assert!(found.iter().zip(&examples).all(|(found, example)| found.policy == example.policy_surprise));

    let mut wrong: Vec<Option<f32>> = examples.iter().map(|example| example.policy_surprise).collect();
    wrong[2] = Some(f32::INFINITY);
    let wrong = with(&batch, "policy_surprise", Some(Arc::new(Float32Array::from(wrong))));
    assert_eq!(refused(&wrong), "column policy_surprise, row 2: divergence inf is out of range");
    assert_eq!(examples::surprises(&wrong).unwrap_err().to_string(), refused(&wrong));
}

#[test]
fn rows_of_other_writers_mix_with_ours() {
    let examples = some_examples(1);
    let batch = examples::to_batch(&examples);
    let lists = batch.column_by_name("recent").unwrap().as_list::<i32>();
    let (_, offsets, values, nulls) = lists.clone().into_parts();
    let renamed = ListArray::new(Arc::new(Field::new("element", DataType::UInt16, true)), offsets, values, nulls);
    let other = ExampleRows::from_batch(&with(&batch, "recent", Some(Arc::new(renamed)))).unwrap();
    let mixed = ExampleRows::gather(&[ExampleRows::from_examples(&examples), other], &[(0, 3), (1, 2)]);
    assert_eq!(mixed.to_examples(), [examples[3].clone(), examples[2].clone()]);
}

#[test]
fn rows_are_picked_and_mixed() {
    let examples = some_examples(3);
    let rows = ExampleRows::from_batch(&examples::to_batch(&examples)).unwrap();
    let (first, second) = (rows.take(&[5, 1, 5]), rows.take(&[0, 100]));
    let mixed = ExampleRows::gather(&[first, second], &[(1, 1), (0, 0), (0, 2), (0, 1), (1, 0)]);
    let expected = [100, 5, 5, 1, 0].map(|i: usize| examples[i].clone());
    assert_eq!(mixed.to_examples(), expected);
}

#[test]
fn turn_without_search_has_no_values_in_the_table() {
    let mut game = some_games(1).remove(0);
    game.turns[1] = Turn::unsearched(SearchKind::Given, game.turns[1].mv);
    let batch = games::to_batch(std::slice::from_ref(&game));
    let values = batch.column_by_name("root_values").unwrap().as_list::<i32>().value(0);
    assert!(values.is_null(1) && values.is_valid(2));
    assert_eq!(games::from_batch(&batch).unwrap(), [game.as_stored()]);
}

#[test]
fn moves_that_do_not_exist_are_refused() {
    let batch = games::to_batch(&some_games(2));
    let sizes: ArrayRef = Arc::new(UInt8Array::from(vec![9, 2]));
    let error = games::from_batch(&with(&batch, "size", Some(sizes))).unwrap_err();
    assert!(matches!(error, RecordError::Value { column: "moves", row: 1, .. }), "{error}");
    let moves = batch.column_by_name("moves").unwrap().as_list::<i32>();
    assert!(moves.values().as_primitive::<UInt16Type>().values().iter().all(|&mv| mv <= 81));
    assert_eq!(batch.column_by_name("size").unwrap().as_primitive::<UInt8Type>().value(0), 9);
}

#[test]
fn table_from_before_is_refused() {
    let batch = games::to_batch(&some_games(1));
    let older = batch.schema().as_ref().clone().with_metadata([(VERSION_KEY, "games/1")]);
    let older = RecordBatch::try_new(Arc::new(older), batch.columns().to_vec()).unwrap();
    let error = games::from_batch(&older).unwrap_err().to_string();
    assert_eq!(error, "expected a table of version games/6, found games/1");
    assert_eq!(record::GameSummary::from_batch(&older).unwrap_err().to_string(), error);
}

#[test]
fn fast_turns_are_no_examples_and_weights_are_kept() {
    let mut game = some_games(1).remove(0);
    let before = game.positions();
    (game.turns[4].kind, game.turns[4].weight) = (SearchKind::Fast, 0.0);
    (game.turns[5].kind, game.turns[5].weight) = (SearchKind::Full, 0.25);
    let batch = games::to_batch(std::slice::from_ref(&game));
    assert_eq!(games::from_batch(&batch).unwrap(), [game.as_stored()]);
    assert_eq!(game.positions(), before - 1);
    let examples = game.examples().unwrap();
    assert_eq!(examples.len(), before - 1);
    assert!(examples.iter().all(|example| example.turn != 4));
    let weight = |example: &Example| if example.turn == 5 { 0.25 } else { 1.0 };
    assert!(examples.iter().all(|example| example.weight == weight(example)));
    let positions = batch.column_by_name("positions").unwrap().as_primitive::<UInt32Type>().value(0);
    assert_eq!(positions as usize, before - 1, "summaries count the examples");
}

#[test]
fn kinds_and_visits_that_disagree_are_refused() {
    let mut game = some_games(1).remove(0);
    (game.turns[1].kind, game.turns[1].weight) = (SearchKind::Given, 0.0);
    assert!(game.examples().unwrap_err().to_string().ends_with("turn 1: a turn that was not searched has visits"));
    game.turns[1] = Turn::unsearched(SearchKind::Fast, game.turns[1].mv);
    assert!(game.examples().is_ok(), "a fast search yields no example");
    game.turns[1].weight = 1.0;
    assert!(game.examples().unwrap_err().to_string().ends_with("turn 1: a turn with an example has no visits"));
}

#[test]
fn invalid_weights_are_refused() {
    for (kind, weight, problem) in [
        (SearchKind::Full, -1.0, "weight -1 is not a number from 0 up"),
        (SearchKind::Full, f32::NAN, "weight NaN is not a number from 0 up"),
        (SearchKind::Given, 1.0, "a turn that was not searched has a weight"),
    ] {
        let mut game = some_games(1).remove(0);
        game.turns[1] = match kind {
            SearchKind::Given => Turn { weight, ..Turn::unsearched(kind, game.turns[1].mv) },
            _ => Turn { weight, ..game.turns[1].clone() },
        };
        let error = games::from_batch(&games::to_batch(std::slice::from_ref(&game))).unwrap_err().to_string();
        assert_eq!(error, format!("column weights, row 0: {problem}"));
        assert!(game.examples().unwrap_err().to_string().ends_with(problem));
    }
}

#[test]
fn policies_of_unfinished_games_are_checked() {
    let batch = games::unfinished::to_batch(&some_games(2));
    let refused = |batch: &RecordBatch| games::unfinished::from_batch(batch).unwrap_err().to_string();
    assert!(refused(&with(&batch, "policy_moves", None)).contains("policy_moves"));
    let none = || -> ArrayRef { Arc::new(ListArray::from_iter_primitive::<UInt16Type, _, _>([Some([]), Some([])])) };
    let said = refused(&with(&batch, "policy_moves", Some(none())));
    assert!(said.contains("policy_moves") && said.contains("0 entries for"), "{said}");
    let said = refused(&with(&batch, "visit_moves", Some(none())));
    assert!(said.contains("visit_moves") && said.contains("where there are to be"), "{said}");
    let said = games::from_batch(&batch).unwrap_err().to_string();
    assert!(said.contains("unfinished/1"), "{said}");
}
