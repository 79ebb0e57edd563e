#!/usr/bin/python3
"""A whole OpenStack Swift with its S3 interface on loopback, in one process: swift-server.py DIR PORTFILE BUCKET

DIR needs a file system with user attributes.  Access key "kz:tests", secret "kz-secret"; one bucket is made.  The port
of the S3 interface is written to PORTFILE when everything answers.
"""
import logging
import os
import sys

import eventlet

eventlet.monkey_patch()

import eventlet.wsgi
from swift.common import utils
from swift.common.ring import RingBuilder
from swift.common.storage_policy import reload_storage_policies
from swift.common.wsgi import loadapp

PROXY = """
[DEFAULT]
swift_dir = {dir}
log_level = ERROR
[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth copy proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
[filter:tempauth]
use = egg:swift#tempauth
user_kz_tests = kz-secret .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:copy]
use = egg:swift#copy
"""
SERVER = """
[DEFAULT]
swift_dir = {dir}
devices = {dir}/devices
mount_check = false
log_level = ERROR
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


def ring(place, name, port):
    builder = RingBuilder(1, 1, 1)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "d1", "weight": 1,
                     "replication_ip": "127.0.0.1", "replication_port": port})
    builder.rebalance()
    builder.get_ring().save(os.path.join(place, name + ".ring.gz"))


def main():
    place, port_file, bucket = sys.argv[1:]
    logging.disable(logging.CRITICAL)
    os.makedirs(place + "/devices/d1", exist_ok=True)
    with open(place + "/swift.conf", "w", encoding="ascii") as f:
        f.write("[swift-hash]\nswift_hash_path_suffix = kz\nswift_hash_path_prefix = kz\n")
    utils.SWIFT_CONF_FILE = place + "/swift.conf"
    utils.validate_hash_conf()
    reload_storage_policies()

    def serve(kind, text):
        path = f"{place}/{kind}.conf"
        with open(path, "w", encoding="ascii") as f:
            f.write(text.format(dir=place, kind=kind))
        app = loadapp(path)
        eventlet.spawn(eventlet.wsgi.server, sockets[kind], app, log_output=False, debug=False)
        return app

    sockets = {k: eventlet.listen(("127.0.0.1", 0)) for k in ("account", "container", "object", "proxy")}
    for kind in ("account", "container", "object"):
        ring(place, kind, sockets[kind].getsockname()[1])
        serve(kind, SERVER)
    proxy = serve("proxy", PROXY)

    # The bucket, by Swift's own interface and a token of its own.
    from swift.common.swob import Request
    asked = Request.blank("/auth/v1.0", headers={"X-Auth-User": "kz:tests", "X-Auth-Key": "kz-secret"})
    answer = asked.get_response(proxy)
    made = Request.blank(f"/v1/AUTH_kz/{bucket}", environ={"REQUEST_METHOD": "PUT", "swift.authorize_override": True},
                         headers={"X-Auth-Token": answer.headers.get("X-Auth-Token", "")}).get_response(proxy)
    if made.status_int // 100 != 2:
        sys.exit(f"swift: no bucket: {answer.status} {made.status}")
    with open(port_file + ".new", "w", encoding="ascii") as f:
        f.write(str(sockets["proxy"].getsockname()[1]))
    os.rename(port_file + ".new", port_file)
    while True:
        eventlet.sleep(3600)


main()
