"""A package token, made by another hand than kz's: token.py KEYFILE RUN EXECUTION EXPIRES."""
import base64, hashlib, struct, sys

key = bytes.fromhex(open(sys.argv[1]).read().strip())
run, execution, expires = sys.argv[2], sys.argv[3], int(sys.argv[4])
mac = hashlib.blake2b(key=key, digest_size=16)
for field in ("package token", run, execution, str(expires)):
    mac.update(struct.pack("<Q", len(field)) + field.encode())
body = bytes.fromhex(run) + bytes.fromhex(execution) + struct.pack(">q", expires) + mac.digest()
print("kzp1." + base64.urlsafe_b64encode(body).decode().rstrip("="))
