"""The proxies that kz-proxy is compared with: each is started on loopback with a configuration of its own.

All of them may reach everything, log nothing, cache nothing and take part in nothing else, which is the least that
they can do for a tunnel.  They run as children and end with the namespace that the benchmark makes.
"""
import os
import pwd
import shutil
import subprocess


def user(*names):
    """The first of these users that exists here."""
    for name in names + ("nobody",):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            pass
    return "root"


class Peer:
    """name, package (that brings it), program, port; configuration() writes what command() names."""

    connects = True  # False: a plain TCP relay to one destination

    def __init__(self, directory, port, origin):
        self.dir = os.path.join(directory, self.name)
        self.port, self.origin = port, origin
        self.process = None

    def program_path(self):
        return shutil.which(self.program, path="/usr/sbin:/usr/bin:/sbin:/bin")

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def start(self):
        os.makedirs(self.dir)
        os.chmod(self.dir, 0o777)
        with open(os.path.join(self.dir, "output"), "wb") as out:
            self.process = subprocess.Popen([self.program_path()] + self.arguments(), stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=out, cwd=self.dir)

    def complaint(self):
        with open(os.path.join(self.dir, "output"), errors="replace") as f:
            return f.read()[-300:].strip().replace("\n", "; ")


class Squid(Peer):
    name, package, program = "squid", "squid", "squid"

    def arguments(self):
        return ["-N", "-f", self.write("conf", f"""
http_port 127.0.0.1:{self.port}
acl CONNECT method CONNECT
http_access allow all
cache deny all
cache_mem 8 MB
access_log none
cache_log {self.dir}/log
cache_store_log none
pid_filename none
coredump_dir none
pinger_enable off
dns_nameservers 127.0.0.1
visible_hostname bench
shutdown_lifetime 0 seconds
max_filedescriptors 16384
cache_effective_user {user("proxy")}
""")]


class Tinyproxy(Peer):
    name, package, program = "tinyproxy", "tinyproxy-bin", "tinyproxy"

    def arguments(self):
        return ["-d", "-c", self.write("conf", f"""
Port {self.port}
Listen 127.0.0.1
Timeout 600
MaxClients 4096
LogLevel Critical
LogFile "{self.dir}/log"
User {user("tinyproxy", "proxy")}
""")]


class Privoxy(Peer):
    name, package, program = "privoxy", "privoxy", "privoxy"

    def arguments(self):
        return ["--no-daemon", "--user", user("privoxy"), self.write("conf", f"""
confdir {self.dir}
logdir {self.dir}
listen-address 127.0.0.1:{self.port}
max-client-connections 4096
listen-backlog 4096
toggle 0
debug 0
socket-timeout 600
""")]


class Apache(Peer):
    name, package, program = "apache", "apache2-bin", "apache2"

    def arguments(self):
        modules = "/usr/lib/apache2/modules"
        return ["-D", "FOREGROUND", "-f", self.write("conf", f"""
ServerRoot {self.dir}
ServerName bench
PidFile {self.dir}/pid
DefaultRuntimeDir {self.dir}
ErrorLog {self.dir}/log
LogLevel crit
Listen 127.0.0.1:{self.port}
ListenBacklog 4096
User {user("www-data")}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule proxy_module {modules}/mod_proxy.so
LoadModule proxy_connect_module {modules}/mod_proxy_connect.so
ProxyRequests On
ProxyVia Off
AllowCONNECT 1-65535
Timeout 600
ThreadsPerChild 64
ServerLimit 32
MaxRequestWorkers 2048
<Proxy "*">
Require all granted
</Proxy>
""")]


class Haproxy(Peer):
    """A plain TCP relay to one destination: no head, no name, no decision.  The ceiling of a relay."""

    name, package, program = "haproxy", "haproxy", "haproxy"
    connects = False

    def arguments(self):
        address, port = self.origin
        return ["-db", "-f", self.write("conf", f"""
global
	maxconn 4000
defaults
	mode tcp
	timeout connect 5s
	timeout client 600s
	timeout server 600s
	option splice-auto
listen bench
	bind 127.0.0.1:{self.port}
	server origin {address}:{port}
""")]


ALL = (Squid, Tinyproxy, Privoxy, Apache, Haproxy)
