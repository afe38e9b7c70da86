"""The rules of the API server for the numbers of a Job. They are validation code there, so no schema contains them:
validateJobSpec and validateCompletions in pkg/apis/batch/validation/validation.go of Kubernetes 1.34.4.
"""

# completionsSoftLimit, parallelismLimitForHighCompletions and maxFailedIndexesLimitForHighCompletions there.
MANY_COMPLETIONS = 100_000
LIMIT_OF_MANY = 10_000


def of(found):
    """What is wrong with the numbers of an object, if it is a Job."""
    if found["kind"] != "Job":
        return
    spec = found["spec"]
    completions, parallelism = spec.get("completions"), spec.get("parallelism", 1)
    per_index, failed = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    for key in ("completions", "parallelism", "backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes"):
        if (spec.get(key) or 0) < 0:
            yield f"spec.{key}: {spec[key]} is negative"
    if failed is not None and per_index is None:
        yield "spec.backoffLimitPerIndex: required when maxFailedIndexes is set"
    if spec.get("completionMode") != "Indexed":
        if per_index is not None or failed is not None:
            yield "spec.completionMode: backoffLimitPerIndex and maxFailedIndexes require Indexed"
        return
    if completions is None:
        yield "spec.completions: required when completionMode is Indexed"
        return
    if failed is not None and failed > completions:
        yield f"spec.maxFailedIndexes: {failed} must be less than or equal to completions, which are {completions}"
    if parallelism > MANY_COMPLETIONS:
        yield f"spec.parallelism: {parallelism} must be less than or equal to {MANY_COMPLETIONS}"
    if completions > MANY_COMPLETIONS and per_index is not None:
        if failed is None:
            yield f"spec.maxFailedIndexes: required when completions are above {MANY_COMPLETIONS}"
        for key, number in (("parallelism", parallelism), ("maxFailedIndexes", failed or 0)):
            if number > LIMIT_OF_MANY:
                yield f"spec.{key}: {number} must be less than or equal to {LIMIT_OF_MANY} with so many completions"


def of_update(before, after):
    """What the API server would refuse to change in a Job."""
    if before["kind"] != "Job":
        return
    old, new = before["spec"], after["spec"]
    for key in ("selector", "template", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        if old.get(key) != new.get(key):
            yield f"spec.{key}: immutable"
    if old.get("completions") != new.get("completions"):
        if new.get("completionMode") != "Indexed":
            yield "spec.completions: immutable"
        elif new.get("completions") != new.get("parallelism", 1):
            yield (f"spec.completions: {new.get('completions')} can only change together with spec.parallelism, to the same "
                   f"number; that is {new.get('parallelism', 1)}")
