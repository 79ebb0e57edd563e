# Installation below DESTDIR and PREFIX.  What is installed is one list, so that uninstall removes exactly that.
UNITDIR ?= $(PREFIX)/lib/systemd/system
MANDIR ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions
DOCDIR ?= $(PREFIX)/share/doc/kz

# Programs that only other programs start.
HELPERS := $(filter kz-worker kz-archive kz-compress kz-driver-%,$(PROGRAMS))
FACES := $(filter-out $(HELPERS),$(PROGRAMS))
MAN_PAGES := $(wildcard docs/man/*.[1-8])
COMPLETIONS := $(wildcard scripts/completion/*)
SHARED := $(sort $(shell find supervise lib/valkey policy -type f 2>/dev/null | grep -v '/systemd/')) \
	$(wildcard statemachines/gen/*.lua statemachines/gen/*.sql) $(wildcard tests/kz.bash)
# What the manual pages name as docs/NAME.md.
DOCS := README.md LICENSE $(wildcard docs/*.md)
UNITS := $(wildcard supervise/systemd/*.service)

# MODE FROM TO, one line a file; TO is absolute below DESTDIR.
define INSTALL_LIST
$(foreach p,$(FACES),0755 $(B)/bin/$p $(PREFIX)/bin/$p
)$(foreach p,$(HELPERS),0755 $(B)/bin/$p $(PREFIX)/libexec/kz/$p
)$(foreach f,$(SHARED),$(if $(shell test -x $f && echo x),0755,0644) $f $(PREFIX)/share/kz/$(f:tests/%=%)
)$(foreach f,$(MAN_PAGES),0644 $f $(MANDIR)/man$(subst .,,$(suffix $f))/$(notdir $f)
)$(foreach f,$(COMPLETIONS),0644 $f $(COMPDIR)/$(notdir $f)
)$(foreach f,$(DOCS),0644 $f $(DOCDIR)/$f
)$(foreach f,$(UNITS),0644 $f $(UNITDIR)/$(notdir $f)
)
endef

$(B)/install.list: FORCE
	@mkdir -p $(@D)
	$(file >$@,$(INSTALL_LIST))@:

install: all $(B)/install.list
	$(Q)DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' scripts/make/install $(B)/install.list

uninstall: $(B)/install.list
	$(Q)DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' scripts/make/install --remove $(B)/install.list

FORCE:
.PHONY: install uninstall FORCE
