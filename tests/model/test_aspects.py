"""Aspects: values by number, asked once each."""

from posse.cluster.aspects import Aspect, satisfying
from posse.cluster.selectors import Requirement


def of(*values: str | None) -> Aspect[str]:
    aspect: Aspect[str] = Aspect(lambda thing: thing)
    aspect.reach(len(values))
    aspect.write(slice(None), values)
    return aspect


def test_a_question_is_asked_once_per_value() -> None:
    asked: list[str] = []
    answers = of("a", "b", "a", None).answers(lambda value: asked.append(value) or ord(value), -1)
    assert (answers.tolist(), asked) == ([97, 98, 97, -1], ["a", "b"])


def test_requirements_answer_as_they_do_for_one_label_map() -> None:
    values = ("1", "2", None, "2", "x")
    requirements = [Requirement("k", "In", ("2", "7")), Requirement("k", "NotIn", ("2",)), Requirement("k", "Exists")]
    requirements += [Requirement("k", "DoesNotExist"), Requirement("k", "Gt", ("1",)), Requirement("k", "Lt", ("2",))]
    for requirement in requirements:
        one_by_one = [requirement.matches({} if value is None else {"k": value}) for value in values]
        assert satisfying(of(*values), requirement).tolist() == one_by_one
        assert satisfying(of(*values), requirement, since=3).tolist() == one_by_one[3:]


def test_values_that_no_row_has_any_more_are_forgotten() -> None:
    aspect = of("a", "b")
    for number in range(200):
        aspect.write([0], [f"host-{number}"])
    assert len(aspect.values) < 100
    assert [aspect.values[number] for number in aspect.numbers] == ["host-199", "b"]
