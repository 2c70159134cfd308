"""The package's page in an index: its addresses, its long description, its version."""

import os
import re
import sys
import tomllib
from pathlib import Path

import package_page
import pytest
from helpers import python, raises

import locmsim

ROOT = Path(__file__).parents[3]
REPOSITORY = "https://example.org/someone/locmsim"


def test_links_and_pictures_of_the_readme_lead_to_the_version():
    readme = (ROOT / "README.md").read_text()
    if "(docs/replay.png)" not in readme:
        pytest.skip("a published archive: its links are absolute already")
    page = package_page.long_description(readme, REPOSITORY, "1.2.3")
    targets = re.findall(r"\]\(([^)]+)\)", page)
    assert len(targets) == len(re.findall(r"\]\(([^)]+)\)", readme)) > 20
    assert all(target.startswith(("https://", "#")) for target in targets)
    assert f"]({REPOSITORY}/raw/v1.2.3/docs/replay.png)" in page
    files = [target.split("v1.2.3/")[1] for target in targets if target.startswith(REPOSITORY)]
    for path in files:
        assert (ROOT / path.partition("#")[0]).exists() or not (ROOT / "setup.py").exists(), path


def test_kinds_of_targets():
    text = "![p](docs/a.png) [page](docs/a.md#part) [folder](examples) [a](https://a.org) [b](#x)"
    assert package_page.long_description(text, REPOSITORY + "/", "2.0") == (
        f"![p]({REPOSITORY}/raw/v2.0/docs/a.png) [page]({REPOSITORY}/blob/v2.0/docs/a.md#part)"
        f" [folder]({REPOSITORY}/tree/v2.0/examples) [a](https://a.org) [b](#x)"
    )


def test_a_tree_is_prepared_for_its_index(tmp_path):
    (tmp_path / "src" / "locmsim").mkdir(parents=True)
    (tmp_path / "src" / "locmsim" / "__init__.py").write_text('__version__ = "2.0"\n')
    (tmp_path / "README.md").write_text("[page](docs/a.md)")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[project.scripts]\nx = "y"\n'
    )
    package_page.prepare(tmp_path, REPOSITORY)
    assert (tmp_path / "README.md").read_text() == f"[page]({REPOSITORY}/blob/v2.0/docs/a.md)"
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["urls"] == package_page.urls(REPOSITORY, "2.0")
    raises(ValueError, "has addresses already", package_page.prepare, tmp_path, REPOSITORY)


def test_nothing_but_the_version_is_dynamic():
    """Metadata is in pyproject.toml, not computed by setup.py when somebody installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["dynamic"] == ["version"]
    assert project["readme"] == "README.md"


def test_cython_is_capped_wherever_it_builds_the_package():
    """setup.py rewrites what Cython generates, so a newer Cython has to be looked at first."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    build = [one for one in data["build-system"]["requires"] if one.startswith("cython")]
    tests = data["project"]["optional-dependencies"]["test"]
    assert build == ["cython>=3.1,<3.4"] == [one for one in tests if one.startswith("cython")]


def test_wheels_are_built_from_the_source_archive():
    workflow = ROOT / ".github" / "workflows" / "wheels.yml"
    if not workflow.exists():
        pytest.skip("not the source tree")
    wheels = workflow.read_text().partition("\n  wheels:\n")[2].partition("\n  sdist:\n")[0]
    assert "needs: [engines, sdist]" in wheels
    assert "tar -xzf dist/locmsim-*.tar.gz" in wheels
    assert "checkout" not in wheels


def test_urls():
    urls = package_page.urls(REPOSITORY, "2.0")
    assert urls["Source"] == REPOSITORY
    assert urls["Changelog"] == f"{REPOSITORY}/blob/v2.0/CHANGELOG.md"
    raises(ValueError, "https address, got 'ftp://a'", package_page.urls, "ftp://a", "2.0")


def test_citation_has_the_version_and_a_date():
    file = ROOT / "CITATION.cff"
    if not file.exists():
        pytest.skip("not beside its source tree")
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", text, re.M) == [locmsim.__version__]
    assert re.search(r"^date-released: \d{4}-\d{2}-\d{2}$", text, re.M)


def test_flags_of_the_user_come_after_ours():
    """CFLAGS decide how much is optimised, but not how numbers are rounded."""
    if not (ROOT / "setup.py").exists() or sys.platform == "win32":
        pytest.skip("not beside its source tree, or built by Microsoft's compiler")
    code = "import setup; print(*setup.compile_args('policy._policy'))"
    environment = {**os.environ, "CFLAGS": "-O1 -ffast-math"}
    flags = python("-c", code, cwd=ROOT, env=environment).stdout.split()
    assert max(flags.index(ours) for ours in ("-O2", "-O3")) < flags.index("-O1")
    assert flags.index("-ffast-math") < flags.index("-ffp-contract=off")


def test_changelog_keeps_its_form():
    changelog = ROOT / "CHANGELOG.md"
    if not changelog.exists():
        pytest.skip("not beside its source tree")
    text = changelog.read_text()
    versions = re.findall(r"^## \[(.+?)\](?: - (.+))?$", text, re.M)
    assert len(versions) == text.count("\n## ")
    assert versions[0] == ("Unreleased", "")
    for version, date in versions[1:]:
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", date)
    assert re.fullmatch(r"\d+\.\d+\.\d+", locmsim.__version__)
    kinds = set(re.findall(r"^### (.+)$", text, re.M))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
