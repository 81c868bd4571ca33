"""same_as_docs.py PAGE FILE...: each part of FILE between `// PAGE, begin` and `// PAGE, end` stands in PAGE."""

import re
import sys
from pathlib import Path

page = Path(sys.argv[1])
text = page.read_text()
parts = 0
for name in sys.argv[2:]:
    for part in re.findall(
        r"// docs/%s, begin\n(.*?) *// docs/%s, end" % (page.name, page.name), Path(name).read_text(), re.S
    ):
        parts += 1
        if part not in text:
            sys.exit(f"{name}: not as in {page}:\n{part}")
if parts == 0:
    sys.exit("no part is marked")
print(f"{parts} parts as in {page.name}")
