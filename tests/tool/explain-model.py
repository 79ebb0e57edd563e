"""explain-model.py KZ_GRANT FILE: does kz-grant explain give each case of FILE (decide-model.py made it) its verdict?

Makes a state directory in the current one.  Says what differs; ends with "N cases".
"""
import os
import subprocess
import sys

SETTINGS = ["SANDBOX_EGRESS_ENABLED", "SANDBOX_EGRESS_MODE", "SANDBOX_EGRESS_HOST_ALLOWLIST", "SANDBOX_EGRESS_PRIVATE_CIDRS",
            "SANDBOX_EGRESS_ALLOWED_PORTS", "SANDBOX_EGRESS_TOKEN_TTL_SECONDS", "KZ_EGRESS_DENY_CIDRS"]
PACKAGED = {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}


def put(name, text):
    path = "state/env/" + name
    if text == "~":
        if os.path.exists(path):
            os.unlink(path)
        return
    with open(path, "w", encoding="ascii") as f:
        f.write(text + "\n")


def said(status, text):
    """The verdict in the words of the model."""
    text = text.partition("\n")[0]
    if status == 0:
        return "allow" if ": allowed" in text else "lookup" if ": would be looked up" in text else text
    return text.partition(": refused: ")[2].partition(":")[0] if status == 1 else f"{status} {text}"


def main():
    os.makedirs("state/env")
    os.makedirs("state/keys")
    for name in ("field.key", "grant.key"):  # only that they are there counts: nothing is signed
        open("state/keys/" + name, "wb").close()
    put("KZ_PROXY_URL", "unix:run/proxy/proxy.sock")
    env = {"KZ_STATE": os.path.abspath("state"), "PATH": os.environ["PATH"]}
    cases = 0
    for line in open(sys.argv[2], encoding="ascii"):
        *values, own, authority, answers, want = line.rstrip("\n").split("\t")
        # Here the program knows whose ranges they are: anybody's but the packaged ones.
        if own != "1" or {e.strip() for e in values[3].split(",")} == PACKAGED or authority.startswith("-"):
            continue
        for name, text in zip(SETTINGS, values):
            put(name, text)
        argv = [sys.argv[1], "explain"]
        argv += ["-r", "" if answers == "none" else answers] if answers != "-" else []
        # What looks like a path or a scheme would be read as a URL.
        if any(c in authority for c in "/?#"):
            continue
        p = subprocess.run(argv + [authority.replace("\\x20", " ")], env=env, capture_output=True, text=True, check=False)
        cases += 1
        got = said(p.returncode, p.stdout)
        if got != want:
            print(f"want {want}, got {got}: {line.rstrip()} {p.stderr.rstrip()}")
    print(cases, "cases")


main()
