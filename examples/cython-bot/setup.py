"""Builds the example's compiled half against the installed locmsim."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="flatbot",
    version="1.0",
    packages=["flatbot"],
    install_requires=["locmsim"],
    ext_modules=cythonize(
        [Extension("flatbot._turns", ["flatbot/_turns.pyx"])],
        language_level=3,
    ),
)
