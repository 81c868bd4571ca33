"""The module's memory is mimalloc's, and none goes back to whom it is not from."""

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from shardonnay import _core

# What the C library has that returns memory which the caller frees with `free`.
ALLOCATING = """
    malloc calloc realloc reallocarray aligned_alloc memalign posix_memalign valloc pvalloc
    strdup strndup wcsdup realpath canonicalize_file_name get_current_dir_name tempnam
    asprintf vasprintf __asprintf_chk __vasprintf_chk getline getdelim __getdelim open_memstream
    scandir backtrace_symbols cfree mallinfo malloc_usable_size
""".split()


@pytest.fixture(scope="module")
def elf():
    with open(_core.__file__, "rb") as file:
        yield ELFFile(file)


def _imports(elf):
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection) and section.name == ".dynsym":
            for symbol in section.iter_symbols():
                if symbol["st_shndx"] == "SHN_UNDEF":
                    yield symbol.name


def test_no_function_of_the_c_library_that_allocates_is_called(elf):
    imported = set(_imports(elf))
    assert {"mi_malloc", "mi_free"} <= imported
    assert imported.isdisjoint(ALLOCATING)


def test_new_and_delete_are_the_modules_own(elf):
    dynamic = next(section for section in elf.iter_sections() if isinstance(section, DynamicSection))
    needed = [tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
    assert not any(name.startswith("libstdc++") for name in needed)
    operators = ("_Znw", "_Zna", "_Zdl", "_Zda")  # new, new[], delete, delete[]
    assert not [name for name in _imports(elf) if name.startswith(operators)]
