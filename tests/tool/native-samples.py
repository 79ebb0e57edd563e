#!/usr/bin/python3
"""Make the documents that the tests of kz-native judge, each by a program that others use.

usage: native-samples.py DIR

python-docx, openpyxl, XlsxWriter, reportlab and cairo are called from here; LibreOffice and TeX as programs, with a
profile and a work directory of their own below DIR. python-pptx is not part of Debian 12: LibreOffice makes the pptx.
Prints the name of each document made, one a line.
"""
import io
import os
import random
import subprocess
import sys
import zlib

TEXT = "Grüße: quarterly figures, Ünïcödé and plain words. "


def paragraphs(n, seed=7):
    rng = random.Random(seed)
    words = "account balance change draft entry figure growth house item journal key ledger margin net order".split()
    return [TEXT + " ".join(rng.choice(words) for _ in range(60)) + "." for _ in range(n)]


def png():
    """A small picture with noise, so that it does not compress away."""
    rng = random.Random(3)
    width, height = 48, 32
    rows = b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(3 * width)) for _ in range(height))

    def chunk(kind, data):
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def python_docx(to):
    import docx
    d = docx.Document()
    d.add_heading("Report", 0)
    for p in paragraphs(12):
        d.add_paragraph(p)
    d.add_picture(io.BytesIO(png()))
    table = d.add_table(rows=5, cols=3)
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row.cells):
            cell.text = f"{i},{j}"
    d.save(to)


def openpyxl_xlsx(to):
    import openpyxl
    from openpyxl.chart import BarChart, Reference
    book = openpyxl.Workbook()
    sheet = book.active
    for i in range(80):
        sheet.append([i, i * i, TEXT])
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=20))
    sheet.add_chart(chart, "E5")
    book.create_sheet("Second")["A1"] = "=SUM(Sheet!A1:A80)"
    book.save(to)


def xlsxwriter_xlsx(to, **options):
    import xlsxwriter
    book = xlsxwriter.Workbook(to, options)
    sheet = book.add_worksheet("Figures")
    for i in range(120):
        sheet.write_row(i, 0, [i, i / 7, TEXT])
    sheet.insert_image("F2", "x.png", {"image_data": io.BytesIO(png())})
    chart = book.add_chart({"type": "line"})
    chart.add_series({"values": "=Figures!$B$1:$B$50"})
    sheet.insert_chart("F20", chart)
    pie = book.add_chart({"type": "pie"})
    pie.add_series({"values": "=Figures!$A$1:$A$5"})
    book.add_chartsheet("Chart").set_chart(pie)
    book.close()


def reportlab_pdf(to, compressed):
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen import canvas
    c = canvas.Canvas(to, pageCompression=compressed)
    for page in range(3):
        for i, p in enumerate(paragraphs(20, page)):
            c.drawString(40, 800 - 20 * i, p[:90])
        c.drawImage(ImageReader(io.BytesIO(png())), 100, 100)
        c.bookmarkPage(f"p{page}")
        c.addOutlineEntry(f"Page {page}", f"p{page}")
        c.showPage()
    c.save()


def reportlab_encrypted(to):
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen import canvas
    c = canvas.Canvas(to, encrypt=StandardEncryption("user", "owner"))
    c.drawString(40, 800, "closed")
    c.save()


def cairo_pdf(to):
    import cairo
    surface = cairo.PDFSurface(to, 595, 842)
    c = cairo.Context(surface)
    for page in range(2):
        c.select_font_face("sans-serif")
        for i, p in enumerate(paragraphs(15, page)):
            c.move_to(30, 40 + 20 * i)
            c.show_text(p[:90])
        c.set_source_rgba(0.2, 0.4, 0.9, 0.5)
        c.arc(300, 600, 80, 0, 6)
        c.fill()
        c.show_page()
    surface.finish()


def quiet(args, cwd=None):
    done = subprocess.run(args, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"{args[0]} ended with {done.returncode}: {done.stdout[-400:]} {done.stderr[-400:]}")


def latex(work, to):
    with open(os.path.join(work, "paper.tex"), "w", encoding="utf-8") as f:
        f.write("\\documentclass{article}\\begin{document}\\section{One}\n")
        f.write("\n\n".join(p.split(". ", 1)[1] for p in paragraphs(20)))
        f.write("\n\\[ a^2 + b^2 = c^2 \\]\n\\end{document}\n")
    quiet(["pdflatex", "-interaction=batchmode", "paper.tex"], work)
    os.rename(os.path.join(work, "paper.pdf"), to)


def office(work, to):
    """One start of LibreOffice a kind of document."""
    text = os.path.join(work, "letter.fodt")
    with open(text, "w", encoding="utf-8") as f:
        f.write('<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
                'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" '
                'office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>'
                + "".join(f"<text:p>{p}</text:p>" for p in paragraphs(20)) + "</office:text></office:body></office:document>")
    slides = os.path.join(work, "deck.fodp")
    ns = "urn:oasis:names:tc:opendocument:xmlns:"
    with open(slides, "w", encoding="utf-8") as f:
        f.write(f'<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="{ns}office:1.0" xmlns:draw="{ns}drawing:1.0" '
                f'xmlns:text="{ns}text:1.0" xmlns:svg="{ns}svg-compatible:1.0" office:version="1.2" '
                'office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>'
                + "".join(f'<draw:page draw:name="p{i}"><draw:frame svg:x="2cm" svg:y="2cm" svg:width="20cm" svg:height="4cm"><draw:text-box>'
                          f"<text:p>{p}</text:p></draw:text-box></draw:frame></draw:page>" for i, p in enumerate(paragraphs(3)))
                + "</office:presentation></office:body></office:document>")
    table = os.path.join(work, "table.csv")
    with open(table, "w", encoding="utf-8") as f:
        f.writelines(f"{i},{i * 3},word {i}\n" for i in range(60))
    for source, kinds in ((text, ("docx", "pdf")), (slides, ("pptx", "pdf")), (table, ("xlsx", "pdf"))):
        for kind in kinds:
            quiet(["soffice", f"-env:UserInstallation=file://{work}/profile", "--headless", "--norestore", "--convert-to", kind,
                   "--outdir", work, source])
            stem = os.path.splitext(os.path.basename(source))[0]
            os.rename(os.path.join(work, f"{stem}.{kind}"), to(f"libreoffice-{stem}.{kind}"))


def qpdf_forms(to):
    """The same document with object streams, linearized, updated twice, closed by a password."""
    source = to("cairo.pdf")
    quiet(["qpdf", "--object-streams=generate", source, to("qpdf-object-streams.pdf")])
    quiet(["qpdf", "--linearize", source, to("qpdf-linearized.pdf")])
    quiet(["qpdf", "--qdf", "--object-streams=disable", source, to("qpdf-plain.pdf")])
    quiet(["qpdf", "--encrypt", "u", "o", "256", "--", to("qpdf-object-streams.pdf"), to("qpdf-encrypted.pdf")])


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: native-samples.py DIR")
    top = os.path.abspath(sys.argv[1])
    work = os.path.join(top, "work")
    os.makedirs(work, exist_ok=True)

    def to(name):
        print(name, flush=True)
        return os.path.join(top, name)
    python_docx(to("python-docx.docx"))
    openpyxl_xlsx(to("openpyxl.xlsx"))
    xlsxwriter_xlsx(to("xlsxwriter.xlsx"))
    xlsxwriter_xlsx(to("xlsxwriter-zip64.xlsx"), use_zip64=True)
    xlsxwriter_xlsx(to("xlsxwriter-memory.xlsx"), in_memory=True)
    reportlab_pdf(to("reportlab.pdf"), 1)
    reportlab_pdf(to("reportlab-plain.pdf"), 0)
    reportlab_encrypted(to("reportlab-encrypted.pdf"))
    cairo_pdf(to("cairo.pdf"))
    latex(work, to("pdflatex.pdf"))
    office(work, to)
    if os.path.exists("/usr/bin/qpdf"):
        qpdf_forms(lambda name: to(name) if name != "cairo.pdf" else os.path.join(top, name))


main()
