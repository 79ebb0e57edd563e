#!/usr/bin/python3
"""Make small documents by hand, sound and hostile, and say what kz-native must answer of each.

usage: native-hostile.py DIR

Prints "NAME VERDICT" lines: ok, warned (sound, with a warning), or a reason.
"""
import io
import os
import struct
import sys
import zipfile
import zlib

TOP = sys.argv[1]
OFFICE = "application/vnd.openxmlformats-officedocument."
TRANSITIONAL = "http://schemas.openxmlformats.org/"
STRICT = "http://purl.oclc.org/ooxml/"
PACKAGE = TRANSITIONAL + "package/2006/"


def put(name, data, verdict):
    with open(os.path.join(TOP, name), "wb") as f:
        f.write(data)
    print(name, verdict)


# ---- Office

def relations(*items):
    return ('<Relationships xmlns="%srelationships">' % PACKAGE + "".join(
        '<Relationship Id="%s" Type="%s" Target="%s"/>' % i for i in items) + "</Relationships>")


def types(overrides, extra=""):
    return ('<Types xmlns="%scontent-types"><Default Extension="rels" ContentType="%s"/><Default Extension="bin" '
            'ContentType="application/octet-stream"/>' % (PACKAGE, "application/vnd.openxmlformats-package.relationships+xml")
            + "".join('<Override PartName="/%s" ContentType="%s"/>' % o for o in overrides) + extra + "</Types>")


def package(kind, strict=False):
    """The parts of a minimal document, in order."""
    ns = STRICT if strict else TRANSITIONAL
    rel = STRICT + "officeDocument/relationships" if strict else TRANSITIONAL + "officeDocument/2006/relationships"
    word, year = {"docx": "wordprocessingml", "pptx": "presentationml", "xlsx": "spreadsheetml"}[kind], "" if strict else "2006/"
    uri = f"{ns}{word}/{year}main"
    main = {"docx": "word/document.xml", "pptx": "ppt/presentation.xml", "xlsx": "xl/workbook.xml"}[kind]
    part = {"docx": None, "pptx": "slides/slide1.xml", "xlsx": "worksheets/sheet1.xml"}[kind]
    body = {
        "docx": f'<document xmlns="{uri}"><body><p><r><t>x</t></r></p></body></document>',
        "pptx": f'<presentation xmlns="{uri}" xmlns:r="{rel}"><sldIdLst><sldId id="256" r:id="a"/></sldIdLst></presentation>',
        "xlsx": f'<workbook xmlns="{uri}" xmlns:r="{rel}"><sheets><sheet name="s" sheetId="1" r:id="a"/></sheets></workbook>',
    }[kind]
    main_type = OFFICE + {"docx": "wordprocessingml.document", "pptx": "presentationml.presentation", "xlsx": "spreadsheetml.sheet"}[kind]
    parts = {}
    overrides = [(main, main_type + ".main+xml")]
    folder, base = main.split("/")
    if part:
        overrides.append((f"{folder}/{part}", OFFICE + ("presentationml.slide+xml" if kind == "pptx" else "spreadsheetml.worksheet+xml")))
    parts["[Content_Types].xml"] = types(overrides)
    parts["_rels/.rels"] = relations(("m", rel + "/officeDocument", main))
    parts[main] = body
    if part:
        parts[f"{folder}/_rels/{base}.rels"] = relations(("a", rel + "/" + part.split("/")[0][:-1], part))
        parts[f"{folder}/{part}"] = f'<x xmlns="{uri}"/>'
    return parts


def packed(parts, method=zipfile.ZIP_DEFLATED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        z.comment = comment
        for name, data in parts.items():
            z.writestr(name, data)
    return out.getvalue()


def changed(kind, name, old, new):
    parts = package(kind)
    assert old in parts[name], (kind, name, old)
    parts[name] = parts[name].replace(old, new)
    return packed(parts)


def without(kind, name):
    parts = package(kind)
    del parts[name]
    return packed(parts)


def with_part(kind, name, data, **options):
    parts = package(kind)
    parts[name] = data
    return packed(parts, **options)


def patched(data, *changes):
    """Replace bytes by those of the same length, everywhere."""
    for old, new in changes:
        assert old in data and len(old) == len(new), (old, new)
        data = data.replace(old, new)
    return data


def overlapping():
    """Entries that share the bytes of one kernel: each central entry points at a header inside the last one's data."""
    data = packed(package("docx"), zipfile.ZIP_STORED)
    end = data.rindex(b"PK\5\6")
    count, size, at = struct.unpack("<HII", data[end + 10:end + 20])
    first = data[at:data.index(b"PK\1\2", at + 4)]
    again = b"".join(first[:46] + b"b%06d" % i + first[46 + 7:] for i in range(50))
    central = data[at:end] + again
    return data[:at] + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count + 50, count + 50, len(central), at, 0)


def quoted():
    """As the known bomb does it: a header is quoted by the one before, as data of a stored block."""
    kernel = zlib.compress(bytes(1 << 20), 9)[2:-4]
    files, parts = [], b""
    # built from the last to the first
    body, size, crc = kernel, 1 << 20, zlib.crc32(bytes(1 << 20))
    plain = bytes(1 << 20)
    for i in range(20, 0, -1):
        name = b"word/%02d.bin" % i
        head = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 33, crc, len(body), size, len(name), 0) + name
        parts = head + body
        files.append((name, crc, len(body), size, len(parts)))
        quote = b"\0" + struct.pack("<HH", len(head), 0xffff ^ len(head)) + head
        plain = head + plain
        body, size, crc = quote + body, size + len(head), zlib.crc32(plain)
    first = packed(package("docx"))
    end = first.rindex(b"PK\5\6")
    count, _, at = struct.unpack("<HII", first[end + 10:end + 20])
    out, central = first[:at], first[at:end]
    total = len(out) + len(parts)
    for name, crc, n, size, tail in files:
        central += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 33, crc, n, size, len(name), 0, 0, 0, 0, 0, total - tail) + name
    n = count + len(files)
    return out + parts + central + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, n, n, len(central), total, 0)


def many(n):
    parts = package("docx")
    for i in range(n - len(parts)):
        parts[f"word/{i}.bin"] = b""
    return packed(parts)


def office():
    for kind in ("docx", "pptx", "xlsx"):
        put(f"least.{kind}", packed(package(kind)), "ok")
        put(f"stored.{kind}", packed(package(kind), zipfile.ZIP_STORED), "ok")
        put(f"strict.{kind}", packed(package(kind, True)), "ok")
        put(f"comment.{kind}", packed(package(kind), comment=b"a comment"), "ok")
        put(f"after.{kind}", packed(package(kind)) + b"x", "native_invalid")
        put(f"before.{kind}", b"x" + packed(package(kind)), "native_invalid")
        put(f"no-types.{kind}", without(kind, "[Content_Types].xml"), "native_invalid")
        put(f"no-relations.{kind}", without(kind, "_rels/.rels"), "native_invalid")
        put(f"old.{kind}", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(4096), "native_encrypted")
        put(f"pdf.{kind}", plain_pdf(), "native_mismatch")
        for other in ("docx", "pptx", "xlsx"):
            if other != kind:
                put(f"{other}-as.{kind}", packed(package(other)), "native_mismatch")
    main, rels = "word/document.xml", "_rels/.rels"
    put("SHOUT.DOCX", packed(package("docx")), "ok")
    put("no-slide.pptx", changed("pptx", "ppt/presentation.xml", '<sldId id="256" r:id="a"/>', ""), "ok")
    put("macro.docx", changed("docx", "[Content_Types].xml", OFFICE + "wordprocessingml.document.main+xml",
                              "application/vnd.ms-word.document.macroEnabled.main+xml"), "native_mismatch")
    put("template.docx", changed("docx", "[Content_Types].xml", "document.main+xml", "template.main+xml"), "native_mismatch")
    put("no-main.docx", without("docx", main), "native_invalid")
    put("untyped.docx", changed("docx", "[Content_Types].xml", "/word/document.xml", "/word/other.xml"), "native_invalid")
    put("type-twice.docx", changed("docx", "[Content_Types].xml", "</Types>",
                                   '<Default Extension="RELS" ContentType="x/y"/></Types>'), "native_invalid")
    put("two-mains.docx", changed("docx", rels, "</Rel", '<Relationship Id="n" Type="%sofficeDocument/2006/relationships/'
                                  'officeDocument" Target="word/document.xml"/></Rel' % TRANSITIONAL), "native_invalid")
    put("id-twice.docx", changed("docx", rels, "</Rel", '<Relationship Id="m" Type="x" Target="y"/></Rel'), "native_invalid")
    put("dangling.docx", changed("docx", rels, "</Rel", '<Relationship Id="n" Type="x" Target="gone.xml"/></Rel'), "warned")
    put("external.docx", changed("docx", rels, "</Rel", '<Relationship Id="n" Type="x" TargetMode="External" '
                                 'Target="http://192.0.2.1/"/></Rel'), "ok")
    put("absolute-target.docx", changed("docx", rels, 'Target="word', 'Target="/word'), "ok")
    put("escaped-target.docx", changed("docx", rels, "word/document.xml", "./word/../wor%64/document.xml"), "ok")
    put("target-above.docx", changed("docx", rels, "word/document.xml", "../word/document.xml"), "native_invalid")
    put("other-root.docx", changed("docx", main, "document", "glossaryDocument"), "native_invalid")
    put("other-namespace.docx", changed("docx", main, "wordprocessingml", "spreadsheetml"), "native_invalid")
    put("unclosed.docx", changed("docx", main, "</body>", ""), "native_invalid")
    put("dtd.docx", changed("docx", main, "<document", "<!DOCTYPE document><document"), "native_invalid")
    put("entities.docx", changed("docx", main, "<document", '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><document'),
        "native_invalid")
    put("deep.docx", changed("docx", main, "<p>", "<p>" * 300), "native_invalid")
    put("utf-16.docx", packed({**package("docx"), main: ('<?xml version="1.0" encoding="UTF-16"?>' + package("docx")[main])
                               .encode("utf-16")}), "ok")
    put("no-sheet.xlsx", changed("xlsx", "xl/workbook.xml", '<sheet name="s" sheetId="1" r:id="a"/>', ""), "native_invalid")
    for kind, part in (("xlsx", "xl/worksheets/sheet1.xml"), ("pptx", "ppt/slides/slide1.xml")):
        put(f"part-gone.{kind}", without(kind, part), "native_invalid")
        put(f"id-gone.{kind}", changed(kind, "xl/workbook.xml" if kind == "xlsx" else "ppt/presentation.xml", 'r:id="a"', 'r:id="b"'),
            "native_invalid")
        put(f"broken-part.{kind}", packed({**package(kind), part: "<x>"}), "native_invalid")
    for name, entry in (("up", "../x.bin"), ("root", "/x.bin"), ("inner-up", "word/../../x.bin"), ("dot", "./x.bin"),
                        ("drive", "c:x.bin"), ("double-slash", "word//x.bin"), ("case", "WORD/document.xml")):
        put(f"name-{name}.docx", with_part("docx", entry, b"x"), "native_invalid")
    put("name-backslash.docx", patched(with_part("docx", "word_x.bin", b"x"), (b"word_x.bin", b"word\\x.bin")), "native_invalid")
    put("name-nul.docx", patched(with_part("docx", "word_x.bin", b"x"), (b"word_x.bin", b"word\0x.bin")), "native_invalid")
    put("folder.docx", with_part("docx", "word/media/", b""), "ok")
    put("bzip2.docx", with_part("docx", "word/x.bin", b"x" * 100, method=zipfile.ZIP_BZIP2), "native_invalid")
    data = packed(package("docx"), zipfile.ZIP_STORED)
    put("closed-entry.docx", data.replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\1\0").replace(b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0"),
        "native_encrypted")
    put("other-local-name.docx", data.replace(b"word/document.xml<", b"evil/document.xml<"), "native_invalid")
    put("checksum.docx", data.replace(b"<t>x</t>", b"<t>y</t>"), "native_invalid")
    put("overlapping.docx", overlapping(), "native_invalid")
    put("quoted.docx", quoted(), "native_invalid")
    put("entries-10000.docx", many(10000), "ok")
    put("entries-10001.docx", many(10001), "native_bomb")
    put("flat-15.docx", with_part("docx", "word/x.bin", bytes(15 << 20)), "ok")
    put("flat-40.docx", with_part("docx", "word/x.bin", bytes(40 << 20)), "native_bomb")
    put("flat-300.docx", with_part("docx", "word/x.bin", bytes(300 << 20)), "native_bomb")
    big = with_part("docx", "word/x.bin", bytes(40 << 20))
    put("length-lie.docx", big.replace(struct.pack("<I", 40 << 20), struct.pack("<I", 1000)), "native_invalid")
    inner = packed({"a.zip": packed({"b.zip": packed({"c": bytes(10 << 20)})})})
    put("nested.docx", with_part("docx", "word/x.bin", inner), "ok")
    end = data.rindex(b"PK\5\6")
    put("entry-count.docx", data[:end + 8] + b"\x09\0\x09\0" + data[end + 12:], "native_invalid")
    put("disk.docx", data[:end + 4] + b"\1\0" + data[end + 6:], "native_invalid")
    put("long-count.docx", data[:end + 8] + b"\xff\xff\xff\xff" + data[end + 12:], "native_invalid")
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    long_end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1 << 40, 1 << 40, 100, 0)
    put("long-lie.docx", data[:end] + long_end + locator + data[end:end + 8] + b"\xff\xff\xff\xff" + data[end + 12:], "native_invalid")
    loop = struct.pack("<4sIQI", b"PK\6\7", 0, end + 10, 1)
    put("long-loop.docx", data[:end] + loop + data[end:], "native_invalid")
    put("html.docx", b"<html>error</html>", "native_invalid")


# ---- PDF

class Pdf:
    """Objects by number, in order; bytes with the places they came to."""

    def __init__(self, head=b"%PDF-1.7\n"):
        self.out, self.at = head, {}

    def add(self, number, body):
        self.at[number] = len(self.out)
        self.out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        return self

    def stream(self, number, data, more=b"", length=None):
        n = b"%d" % len(data) if length is None else length
        return self.add(number, b"<</Length %s%s>>\nstream\n%s\nendstream" % (n, more, data))

    def table(self, more=b"", root=b"1 0 R", prev=None, numbers=None):
        start = len(self.out)
        numbers = sorted(self.at) if numbers is None else numbers
        self.out += b"xref\n0 1\n0000000000 65535 f \n"
        for n in numbers:
            self.out += b"%d 1\n%010d 00000 n \n" % (n, self.at[n])
        if prev is not None:
            more += b"/Prev %d" % prev
        self.out += b"trailer\n<</Size %d/Root %s%s>>\n" % (max(self.at) + 1, root, more)
        return self.end(start)

    def xref_stream(self, number, packed=None, more=b"", skew=0):
        start = self.at[number] = len(self.out)
        rows = b""
        for n in range(number + 1):
            if packed and n in packed:
                rows += struct.pack(">BIH", 2, *packed[n])
            elif n in self.at:
                rows += struct.pack(">BIH", 1, self.at[n] + skew, 0)
            else:
                rows += struct.pack(">BIH", 0, 0, 0)
        data = zlib.compress(rows)
        self.out += b"%d 0 obj\n<</Type/XRef/Size %d/W[1 4 2]/Root 1 0 R/Filter/FlateDecode/Length %d%s>>\nstream\n%s\nendstream\nendobj\n" % (
            number, number + 1, len(data), more, data)
        return self.end(start)

    def end(self, start):
        self.out += b"startxref\n%d\n%%%%EOF\n" % start
        return self.out


CATALOG, PAGES = b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R>>"


def usual(head=b"%PDF-1.7\n", catalog=CATALOG, pages=PAGES, page=PAGE):
    return Pdf(head).add(1, catalog).add(2, pages).add(3, page)


def plain_pdf():
    return usual().stream(4, b"q Q").table()


def flate(data):
    return zlib.compress(data, 9)


def zeros(mib):
    """So many MiB of nothing, packed; a whole number of 10."""
    z = zlib.compressobj(9)
    piece = bytes(10 << 20)
    return b"".join(z.compress(piece) for _ in range(mib // 10)) + z.flush()


BOMB = zeros(300)


def pack(objects, more=b"", first=None):
    """An object stream's dictionary members and data."""
    head, body = b"", b""
    for n, text in objects:
        head += b"%d %d " % (n, len(body))
        body += text + b" "
    data = flate(head + body)
    return data, b"/Type/ObjStm/N %d/First %d/Filter/FlateDecode%s" % (len(objects), len(head) if first is None else first, more)


def packed_pdf(objects=None, where=None, length=None, more=b""):
    objects = objects or [(1, CATALOG), (2, PAGES), (3, PAGE)]
    data, members = pack(objects, more)
    f = Pdf().stream(4, b"q Q").stream(5, data, members, length)
    return f.xref_stream(6, where or {n: (5, i) for i, (n, _) in enumerate(objects)})


def hybrid():
    """Page objects in a stream that only the stream beside the table tells of."""
    data, members = pack([(2, PAGES), (3, PAGE)])
    f = Pdf().add(1, CATALOG).stream(4, b"q Q").stream(5, data, members)
    at = len(f.out)
    rows = flate(struct.pack(">BIHBIH", 2, 5, 0, 2, 5, 1))
    f.out += b"6 0 obj\n<</Type/XRef/Size 7/Index[2 2]/W[1 4 2]/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n" % (len(rows), rows)
    start = len(f.out)
    f.out += b"xref\n0 4\n0000000000 65535 f \n%010d 00000 n \n0000000000 00000 f \n0000000000 00000 f \n" % f.at[1]
    f.out += b"4 2\n%010d 00000 n \n%010d 00000 n \ntrailer\n<</Size 7/Root 1 0 R/XRefStm %d>>\n" % (f.at[4], f.at[5], at)
    return f.end(start)


def updated(prev=None):
    f = usual().stream(4, b"q Q")
    f.table()
    start = f.out.rindex(b"xref\n0 1")
    f.stream(4, b"q 1 w Q")
    return f.table(prev=start if prev is None else prev, numbers=[4])


def deep_tree(n):
    f = Pdf().add(1, CATALOG)
    for i in range(n):
        f.add(2 + i, b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (3 + i))
    return f.add(2 + n, b"<</Type/Page>>").table()


def contents(data, more=b"/Filter/FlateDecode", **k):
    return usual().stream(4, data, more, **k).table()


def pdf():
    put("least.pdf", plain_pdf(), "ok")
    put("LEAST.PDF", plain_pdf(), "ok")
    put("streams.pdf", usual().stream(4, b"q Q").xref_stream(5), "ok")
    put("packed.pdf", packed_pdf(), "ok")
    put("hybrid.pdf", hybrid(), "ok")
    put("updated.pdf", updated(), "ok")
    put("version-2.pdf", usual(b"%PDF-2.0\n").stream(4, b"q Q").table(), "ok")
    put("version-x.pdf", usual(b"%PDF-x.0\n").stream(4, b"q Q").table(), "native_invalid")
    put("late-header.pdf", b"junk\n" * 20 + plain_pdf(), "ok")
    put("too-late-header.pdf", b"junk\n" * 300 + plain_pdf(), "native_invalid")
    put("flate.pdf", contents(flate(b"q Q " * 100)), "ok")
    put("ascii85.pdf", contents(b"GhVa:`~>".replace(b"GhVa:`", __import__("base64").a85encode(flate(b"q Q"))),
                                b"/Filter[/ASCII85Decode/FlateDecode]"), "ok")
    put("ascii-hex.pdf", contents(flate(b"q Q").hex().encode() + b">", b"/Filter[/ASCIIHexDecode /#46lateDecode]"), "ok")
    put("ascii85-cut.pdf", contents(b"GhVa:", b"/Filter/ASCII85Decode"), "native_invalid")
    put("indirect-length.pdf", usual().stream(4, b"q Q", length=b"5 0 R").add(5, b"3").table(), "ok")
    put("no-contents.pdf", usual(page=b"<</Type/Page>>").table(), "ok")
    put("closed.pdf", usual().stream(4, b"\1\2\3", b"/Filter/FlateDecode").add(5, b"<</Filter/Standard>>").table(b"/Encrypt 5 0 R"), "warned")
    put("count-lie.pdf", usual(pages=b"<</Type/Pages/Kids[3 0 R]/Count 7>>").stream(4, b"q Q").table(), "warned")
    put("page-twice.pdf", usual(pages=b"<</Type/Pages/Kids[3 0 R 3 0 R]/Count 2>>").stream(4, b"q Q").table(), "warned")
    put("zip.pdf", packed(package("docx")), "native_mismatch")
    put("old.pdf", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "native_mismatch")
    put("empty.pdf", b"", "native_invalid")
    put("html.pdf", b"<!DOCTYPE html><html><body>502</body></html>", "native_invalid")
    put("marks-only.pdf", b"%PDF-1.4\n%%EOF\n", "native_invalid")
    put("png.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100), "native_invalid")
    put("no-root.pdf", plain_pdf().replace(b"/Root 1 0 R", b"/Rxxt 1 0 R"), "native_invalid")
    put("root-gone.pdf", usual().stream(4, b"q Q").table(root=b"9 0 R"), "native_invalid")
    put("no-catalog.pdf", usual(catalog=b"<</Type/Xatalog/Pages 2 0 R>>").stream(4, b"q Q").table(), "native_invalid")
    put("no-page.pdf", usual(pages=b"<</Type/Pages/Kids[]/Count 0>>").stream(4, b"q Q").table(), "native_invalid")
    put("shifted.pdf", plain_pdf().replace(b"3 0 obj", b"3   0 obj"), "native_invalid")
    # white space before an object is passed over, as readers do
    put("shifted-by-one.pdf", plain_pdf().replace(b"3 0 obj", b"3  0 obj"), "ok")
    put("prev-self.pdf", updated(prev=len(updated(prev=111)) and updated(prev=111).rindex(b"xref\n0 1")), "native_invalid")
    put("prev-outside.pdf", updated(prev=99999999), "native_invalid")
    put("prev-negative.pdf", updated(prev=-1), "native_invalid")
    put("prev-text.pdf", updated().replace(b"/Prev ", b"/Prev/"), "native_invalid")
    h = hybrid()
    put("beside-itself.pdf", h[:h.rindex(b"/XRefStm ")] + b"/XRefStm %d>>\n" % h.rindex(b"xref\n0 4") + h[h.rindex(b"startxref"):], "native_invalid")
    put("start-outside.pdf", plain_pdf().replace(b"startxref\n", b"startxref\n9999"), "native_invalid")
    put("huge-number.pdf", plain_pdf().replace(b"xref\n0 1\n", b"xref\n0 1\n0000000000 65535 f \n4000000000 1\n"), "native_bomb")
    put("huge-count.pdf", plain_pdf().replace(b"xref\n0 1\n", b"xref\n0 4000000000\n"), "native_bomb")
    put("huge-rows.pdf", usual().stream(4, b"q Q").xref_stream(5, more=b"/Index[0 999999]"), "native_invalid")
    put("skewed.pdf", usual().stream(4, b"q Q").xref_stream(5, skew=3), "native_invalid")
    put("length-short.pdf", contents(b"q Q", b"", length=b"1"), "native_invalid")
    put("length-long.pdf", contents(b"q Q", b"", length=b"30"), "native_invalid")
    put("length-huge.pdf", contents(b"q Q", b"", length=b"99999999999999999999"), "native_invalid")
    put("length-negative.pdf", contents(b"q Q", b"", length=b"-3"), "native_invalid")
    put("length-itself.pdf", contents(b"q Q", b"", length=b"4 0 R"), "native_invalid")
    put("length-name.pdf", contents(b"q Q", b"", length=b"/x"), "native_invalid")
    put("contents-cut.pdf", contents(flate(b"q Q " * 500)[:-6]), "native_invalid")
    put("contents-changed.pdf", contents(flate(b"q Q")[:-1] + b"\0"), "native_invalid")
    put("contents-bomb.pdf", contents(BOMB), "native_bomb")
    half = zeros(150)
    put("contents-bombs.pdf", usual(page=b"<</Type/Page/Contents[4 0 R 5 0 R]>>").stream(4, half, b"/Filter/FlateDecode")
        .stream(5, half, b"/Filter/FlateDecode").table(), "native_bomb")
    put("contents-twice-bomb.pdf", contents(flate(BOMB), b"/Filter[/FlateDecode/FlateDecode]"), "native_bomb")
    put("picture-bomb.pdf", usual().stream(4, b"q Q").stream(5, BOMB, b"/Filter/FlateDecode").table(), "warned")
    put("tree-circle.pdf", usual(pages=b"<</Type/Pages/Kids[2 0 R]/Count 1>>").stream(4, b"q Q").table(), "native_invalid")
    put("tree-deep.pdf", deep_tree(90), "ok")
    put("tree-too-deep.pdf", deep_tree(5000), "native_invalid")
    put("reference-circle.pdf", usual(catalog=b"<</Type/Catalog/Pages 5 0 R>>").add(5, b"6 0 R").add(6, b"5 0 R").table(), "native_invalid")
    put("nested.pdf", usual().stream(4, b"q Q").add(5, b"[" * 150 + b"]" * 150).table(), "ok")
    put("nested-deep.pdf", usual().stream(4, b"q Q").add(5, b"[" * 100000 + b"]" * 100000).table(), "native_invalid")
    put("open-string.pdf", usual().stream(4, b"q Q").add(5, b"(never closed").table(), "native_invalid")
    put("odd-dictionary.pdf", usual().stream(4, b"q Q").add(5, b"<</A 1/B>>").table(), "native_invalid")
    put("pack-in-itself.pdf", packed_pdf(where={1: (5, 0), 2: (5, 1), 3: (5, 2), 5: (5, 0)}), "native_invalid")
    # its length is the first object in it
    put("pack-length-inside.pdf", packed_pdf([(1, CATALOG), (2, PAGES), (3, PAGE), (0, b"1")], length=b"3 0 R"), "native_invalid")
    put("pack-index.pdf", packed_pdf(where={1: (5, 0), 2: (5, 1), 3: (5, 9)}), "native_invalid")
    put("pack-swapped.pdf", packed_pdf(where={1: (5, 1), 2: (5, 0), 3: (5, 2)}), "native_invalid")
    put("pack-gone.pdf", packed_pdf(where={1: (9, 0), 2: (5, 1), 3: (5, 2)}), "native_invalid")
    put("pack-count.pdf", packed_pdf().replace(b"/N 3", b"/N 9"), "native_invalid")
    # looked at again and again: a long comment that each reference to its object passes
    kids = b"5 0 R " * 30000
    f = usual(pages=b"<</Type/Pages/Count 1/Kids[%s]>>" % kids).stream(4, b"q Q")
    f.at[5] = len(f.out)
    f.out += b"5 0 obj\n%" + b"x" * 400000 + b"\n<</Type/Page>>\nendobj\n"
    put("comment.pdf", f.table(), "native_bomb")


def cut():
    """Every beginning of the least ones; what lacks only white space at the end is whole."""
    for name, data in (("docx", packed(package("docx"))), ("pdf", packed_pdf())):
        for n in range(len(data) - 1):
            with open(os.path.join(TOP, f"cut-{n:05}.{name}"), "wb") as f:
                f.write(data[:n])


office()
pdf()
os.makedirs(os.path.join(TOP, "cut"), exist_ok=True)
TOP = os.path.join(TOP, "cut")
cut()
