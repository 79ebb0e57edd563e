"""The gates of a worker image: imports [IMG-5] and round trips [IMG-6].

gates.py [--fips] IMPORT...: runs inside the image, isolated (python3 -I), without network.  Each name after the program
is imported; each round trip writes a document with what the image has and reads it back.  Prints one JSON object a
gate, {"gate", "ok", "text"}; the last one is the base.  A round trip whose library is not among the names is
not run and says so ("ok": null).  With --fips the first gate is that OpenSSL is held to FIPS.  Exit: 0 all passed, 1 a gate failed.
"""

import importlib
import io
import json
import sys

promised = set(sys.argv[1:]) - {"--fips"}
failed = False
DATA = [["shop", "sum"], ["north", 12.5], ["süd", -3]]


def tell(gate, ok, text=""):
    global failed
    failed |= ok is False
    print(json.dumps({"gate": gate, "ok": ok, "text": text}), flush=True)


def same(found, wanted):
    if found != wanted:
        raise AssertionError(f"read {found!r} instead of {wanted!r}")


def rows_of(file):
    import openpyxl

    sheet = openpyxl.load_workbook(file).active
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def excel_openpyxl():
    import openpyxl

    book = openpyxl.Workbook()
    for row in DATA:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    same(rows_of(out), DATA)


def excel_xlsxwriter():
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    sheet = book.add_worksheet()
    for at, row in enumerate(DATA):
        sheet.write_row(at, 0, row)
    book.close()
    same(rows_of(out), DATA)


def excel_pandas():
    import pandas

    table = pandas.DataFrame(DATA[1:], columns=DATA[0])
    for engine in ("openpyxl", "xlsxwriter"):
        out = io.BytesIO()
        table.to_excel(out, index=False, engine=engine)
        back = pandas.read_excel(out)
        same(back.values.tolist(), DATA[1:])


def matplotlib_png():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from PIL import Image

    figure = pyplot.figure(figsize=(2, 1), dpi=100)
    figure.add_subplot().plot([1, 4, 9])
    pyplot.title("süd")
    out = io.BytesIO()
    figure.savefig(out, format="png")
    image = Image.open(out)
    image.load()
    same((image.format, image.size), ("PNG", (200, 100)))
    if len(set(image.convert("RGB").getdata())) < 3:
        raise AssertionError("the picture is empty")


def word():
    import docx

    document = docx.Document()
    document.add_heading("süd", 1)
    document.add_table(1, 2).cell(0, 1).text = "12.5"
    out = io.BytesIO()
    document.save(out)
    back = docx.Document(out)
    same((back.paragraphs[0].text, back.tables[0].cell(0, 1).text), ("süd", "12.5"))


def powerpoint():
    import pptx

    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "süd"
    out = io.BytesIO()
    deck.save(out)
    same(pptx.Presentation(out).slides[0].shapes.title.text, "süd")


def reportlab_pdf():
    import pypdf
    from reportlab.pdfgen import canvas

    out = io.BytesIO()
    page = canvas.Canvas(out)
    page.drawString(72, 720, "north 12.5")
    page.showPage()
    page.drawString(72, 720, "second page")
    page.save()
    reader = pypdf.PdfReader(out)
    same([p.extract_text().strip() for p in reader.pages], ["north 12.5", "second page"])


def scipy():
    import numpy
    from scipy import linalg, optimize, stats

    a = numpy.array([[4.0, 1.0], [2.0, 3.0]])
    if not numpy.allclose(a @ linalg.inv(a), numpy.eye(2)):
        raise AssertionError("a matrix times its inverse is not one")
    least = optimize.minimize(lambda x: (x[0] - 2) ** 2 + 1, [0.0])
    if abs(least.x[0] - 2) > 1e-3:
        raise AssertionError("the least of a parabola is elsewhere")
    if abs(stats.norm.cdf(1.959963985) - 0.975) > 1e-6:
        raise AssertionError("the normal distribution is another one")


def fips():
    import _hashlib
    import hashlib

    same(_hashlib.get_fips_mode(), 1)
    same(hashlib.sha256(b"abc").hexdigest()[:8], "ba7816bf")
    try:
        hashlib.md5(b"abc")
    except ValueError:
        return
    raise AssertionError("MD5 is not refused")


def base():
    import platform
    import ssl

    try:
        import _hashlib

        fips = bool(_hashlib.get_fips_mode())
    except (ImportError, AttributeError, ValueError):
        fips = None
    release = platform.freedesktop_os_release()
    return {"os": release.get("PRETTY_NAME"), "python": platform.python_version(), "machine": platform.machine(),
            "openssl": ssl.OPENSSL_VERSION, "openssl_fips": fips}


TRIPS = [
    *([(fips, [])] if "--fips" in sys.argv else []),
    (excel_openpyxl, ["openpyxl"]),
    (excel_xlsxwriter, ["xlsxwriter", "openpyxl"]),
    (excel_pandas, ["pandas", "xlsxwriter", "openpyxl"]),
    (matplotlib_png, ["matplotlib", "PIL"]),
    (word, ["docx"]),
    (powerpoint, ["pptx"]),
    (reportlab_pdf, ["reportlab", "pypdf"]),
    (scipy, ["scipy", "numpy"]),
]

for name in sorted(promised):
    try:
        importlib.import_module(name)
        tell("import " + name, True)
    except BaseException as e:  # whatever an import does, it is a miss
        tell("import " + name, False, f"{type(e).__name__}: {e}")
for trip, needs in TRIPS:
    gate = ("round trip " if needs else "") + trip.__name__
    lacking = [n for n in needs if n not in promised]
    if lacking:
        tell(gate, None, "not baked: " + ", ".join(lacking))
        continue
    try:
        trip()
        tell(gate, True)
    except BaseException as e:
        tell(gate, False, f"{type(e).__name__}: {e}")
print(json.dumps({"base": base()}), flush=True)
sys.exit(1 if failed else 0)
