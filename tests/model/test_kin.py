"""Kin: what selectors see of pods, asked of all at once."""

from hypothesis import given
from hypothesis import strategies as st

from posse.cluster.kin import KinRegister, PodChoice, Selection
from posse.cluster.selectors import Requirement, Selector

words = st.sampled_from(["a", "b", "2", "10"])
labels = st.dictionaries(words, words, max_size=3)
everybody = st.lists(st.tuples(words, labels), max_size=8)
requirements = st.one_of(
    st.builds(Requirement, words, st.sampled_from(["In", "NotIn"]), st.lists(words, min_size=1).map(tuple)),
    st.builds(Requirement, words, st.sampled_from(["Exists", "DoesNotExist"])),
    st.builds(Requirement, words, st.sampled_from(["Gt", "Lt"]), st.just(("5",))),
)
selectors = st.one_of(st.none(), st.builds(Selector, st.lists(requirements, max_size=2).map(tuple)))
choices = st.builds(PodChoice, selectors, st.one_of(st.none(), st.lists(words).map(tuple)))


@given(first=everybody, later=everybody, chosen=st.lists(choices, min_size=1, max_size=3))
def test_a_selection_takes_whom_every_choice_takes(first: list, later: list, chosen: list[PodChoice]) -> None:
    register, selection = KinRegister(), Selection(*chosen)
    for group in (first, later):
        for namespace, its_labels in group:
            register.row(namespace, its_labels)
        one_by_one = [all(choice.takes(kin) for choice in chosen) for kin in register.all]
        assert selection.among(register).tolist() == one_by_one


def test_the_same_namespace_and_labels_are_one_kin() -> None:
    register = KinRegister()
    rows = [
        register.row("a", {"x": "1", "y": "2"}),
        register.row("a", {"y": "2", "x": "1"}),
        register.row("b", {"x": "1"}),
    ]
    assert (rows, register.namespaces()) == ([0, 0, 1], ["a", "b"])


def test_a_fork_goes_its_own_way() -> None:
    register = KinRegister()
    register.row("a", {})
    other = register.fork()
    other.row("b", {})
    assert (register.namespaces(), other.namespaces()) == (["a"], ["a", "b"])
