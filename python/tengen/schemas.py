"""Columns of each table, for runs without rows."""

from __future__ import annotations

import pyarrow


def _schema(**types: pyarrow.DataType) -> pyarrow.Schema:
    return pyarrow.schema(list(types.items()))


def _list(item: pyarrow.DataType, nullable: bool = False) -> pyarrow.DataType:
    return pyarrow.list_(pyarrow.field("item", item, nullable=nullable))


_TEXT, _FLAG, _BYTES = pyarrow.string(), pyarrow.bool_(), pyarrow.binary()
_FLOAT, _DOUBLE = pyarrow.float32(), pyarrow.float64()
_INT8, _INT64 = pyarrow.int8(), pyarrow.int64()
_UINT8, _UINT16, _UINT32, _UINT64 = pyarrow.uint8(), pyarrow.uint16(), pyarrow.uint32(), pyarrow.uint64()
_TIME = pyarrow.timestamp("ms", tz="UTC")

_GAMES = _schema(
    id=_TEXT,
    black=_TEXT,
    white=_TEXT,
    config_digest=_TEXT,
    seed=_UINT64,
    index=_UINT64,
    worker=_TEXT,
    started_at=_TIME,
    ended_at=_TIME,
    size=_UINT8,
    komi=_FLOAT,
    scoring=_TEXT,
    visits_budget=_UINT32,
    calibration=_FLAG,
    holdout=_FLAG,
    resign_threshold=_FLOAT,
    would_resign_turn=_UINT16,
    winner_min_value=_FLOAT,
    mean_depth=_FLOAT,
    outcome=_INT8,
    score=_FLOAT,
    end=_TEXT,
    positions=_UINT32,
    handoff_turns=_list(_UINT16),
    handoff_models=_list(_TEXT),
    moves=_list(_UINT16),
    search_kinds=_list(_UINT8),
    weights=_list(_FLOAT),
    root_values=_list(_FLOAT, nullable=True),
    best_child_values=_list(_FLOAT, nullable=True),
    network_values=_list(_FLOAT, nullable=True),
    prior_entropies=_list(_FLOAT, nullable=True),
    policy_surprises=_list(_FLOAT, nullable=True),
)
_EXAMPLES = _schema(
    game=_TEXT,
    turn=_UINT16,
    size=_UINT8,
    komi=_FLOAT,
    base_black=_BYTES,
    base_white=_BYTES,
    recent=_list(_UINT16),
    to_move=_INT8,
    visit_moves=_list(_UINT16),
    visit_counts=_list(_UINT32),
    opponent_move=_UINT16,
    search_kind=_UINT8,
    root_value=_FLOAT,
    best_child_value=_FLOAT,
    network_value=_FLOAT,
    prior_entropy=_FLOAT,
    policy_surprise=_FLOAT,
    outcome=_INT8,
    score=_FLOAT,
    area_black=_BYTES,
    area_white=_BYTES,
    weight=_FLOAT,
    calibration=_FLAG,
    model=_TEXT,
)

# The columns of Parquet files, by the folder of a table.
FILES = {
    "games": _GAMES,
    "matches": _GAMES,
    "examples": _EXAMPLES,
    "holdout": _EXAMPLES,
    "ratings": _schema(
        player=_TEXT,
        elo=_DOUBLE,
        error=_DOUBLE,
        above_pool=_DOUBLE,
        above_pool_error=_DOUBLE,
        games=_UINT32,
        points=_DOUBLE,
    ),
}

_NUMBERS = """
    policy value ownership score opponent_policy l2 total accuracy top_three target_entropy output_entropy
    mean_value value_confidence value_error constant_error value_error_early value_error_middle value_error_late
    learning_rate gradient_norm examples_per_second
    data_wait_share examples reuse samples_per_position symmetry_spread largest_update_ratio constant_value
    calibration_error
"""
# The training log, without the bins of the calibration: lists of another length in each set.
LOSSES = _schema(
    time=_TIME, generation=_INT64, step=_INT64, set=_TEXT, **dict.fromkeys(_NUMBERS.split(), _DOUBLE), alarm=_TEXT, text=_TEXT
)

THRESHOLDS = _schema(
    time=_TIME,
    threshold=_DOUBLE,
    quantile=_DOUBLE,
    games=_INT64,
    from_model=_INT64,
    to_model=_INT64,
    in_force_games=_INT64,
    in_force_wrong=_INT64,
    false_positive_rate=_DOUBLE,
    rate_low=_DOUBLE,
    rate_high=_DOUBLE,
)

MODELS = _schema(
    id=_TEXT,
    number=_INT64,
    parent=_INT64,
    step=_INT64,
    size=_INT64,
    config_digest=_TEXT,
    network_blocks=_INT64,
    network_filters=_INT64,
    network_policy_planes=_INT64,
    network_value_planes=_INT64,
    network_value_hidden=_INT64,
    network_ownership=_FLAG,
    network_score=_FLAG,
    network_opponent_policy=_FLAG,
    network_inputs=_TEXT,
    network_policy_head=_TEXT,
    network_value_head=_TEXT,
    network_value_pooled=_FLAG,
    network_se_channels=_INT64,
    network_pooled_filters=_INT64,
    search_visits=_INT64,
    search_algorithm=_TEXT,
    search_q_init=_TEXT,
    search_q_init_stays=_FLAG,
    search_fpu_reduction=_DOUBLE,
    search_c_puct_base=_DOUBLE,
    search_c_puct_init=_DOUBLE,
    search_gumbel_moves=_INT64,
    search_gumbel_c_visit=_DOUBLE,
    search_gumbel_c_scale=_DOUBLE,
    search_reuse=_FLAG,
    search_leaves=_INT64,
    search_pass_from=_INT64,
    search_prune_pass_alive=_FLAG,
    search_adjudicate_winning_pass=_FLAG,
)
