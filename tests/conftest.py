"""Settings of the whole suite."""

from hypothesis import settings

# No deadline: a shared machine may stall any example, and none of the tests is about time. The same
# examples in every run: whoever installs the project sees what its authors saw.
settings.register_profile(
    "locmsim", max_examples=80, deadline=None, print_blob=True, derandomize=True
)
# For a long search by hand, other examples each time: pytest --hypothesis-profile=thorough
settings.register_profile(
    "thorough", settings.get_profile("locmsim"), max_examples=5000, derandomize=False
)
settings.load_profile("locmsim")
