# Every target sets up what it needs: a virtual environment in .venv, filled from the pinned lock.

PYTHON ?= python3
OUT ?= out
BIN := .venv/bin
READY := .venv/.ready
CALLERS := tests/fixtures/audio
DEMO := $(addprefix $(CALLERS)/,flights-for-two.wav my-name-is-laura.wav my-address.wav i-do-not-have-one.wav yes.wav \
	make-it-three.wav yes-that-is-right.wav yes-please.wav)
PIPELINE ?= cascade
# A speech-to-speech model is somebody's service: the tests' stand-in for one is run beside the demo.
BESIDE_realtime := $(BIN)/python -m tests.realtime.beside
PROMPTS := asterisk-core-sounds-en asterisk-core-sounds-en-wav asterisk-core-sounds-en-g722
DATABASE := postgresql
BROWSER := chromium
NODE := nodejs npm
# Tests that look at the clock, or whose engines do: they have the machine to themselves.
TIMED := realtime or e2e or room or browser
GO := golang-go
WEB := voice_server/web

.DEFAULT_GOAL := help
.PHONY: help demo serve test lint format bench setup lock clean prompts database web types node browser livekit go media

help:  ## print this text
	@echo "glove-voice: a caller speaks, an agent that knows what it still has to find out answers."
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "Each target prepares .venv itself; only Python 3.11 or newer and make have to be there."
	@echo "ARGS=… is handed on: make test ARGS='tests/voice_server -k settings'."
	@echo "Then: $(BIN)/voice-server --help"

demo: $(READY)  ## a recorded caller books a trip; audio and picture land in out/. PIPELINE=realtime: by speech-to-speech
	@$(BESIDE_$(PIPELINE)) $(BIN)/voice-server turn $(DEMO) --agent agents.concierge:create --model offline --pipeline $(PIPELINE) \
		--out $(OUT) --plot $(OUT)/turn.png

serve: $(READY) web  ## talk to it: a page, chat and sockets on this machine
	@$(BIN)/voice-server serve $(ARGS)

livekit: $(READY)  ## a LiveKit server of your own, to talk in rooms; it prints what to set. ARGS=--help
	@$(BIN)/python -m tests.livekit $(ARGS)

test: $(READY) prompts database browser node media  ## run every test: no key, no account, no network
	@$(MAKE) --no-print-directory web
ifdef ARGS
	@$(BIN)/python -m pytest --durations=10 --durations-min=2 $(ARGS)
else
	@$(BIN)/python -m pytest --durations=10 --durations-min=2 --numprocesses=2 -m "not ($(TIMED))"; first=$$?; \
		$(BIN)/python -m pytest --durations=10 --durations-min=2 -m "$(TIMED)" && exit $$first
endif

lint: $(READY)  ## check style, formatting, types and import layers
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(READY)  ## rewrite the sources in the house style
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format
	@[ ! -d $(WEB)/node_modules ] || npm --prefix $(WEB) run --silent format

bench: $(READY) prompts  ## measure this machine beside the aims; ARGS=peers: LiveKit Agents and Pipecat beside us
	@$(BIN)/python -m tests.bench $(ARGS)

web:  ## build the page, where Node 18 or newer is
	@if node -e 'process.exit(Number(parseInt(process.versions.node) < 18))' 2>/dev/null && command -v npm >/dev/null; \
		then $(MAKE) --no-print-directory $(WEB)/dist/index.html; \
		else echo "make: without Node 18 or newer and npm the server has a plain page only;" \
			"for the other: apt-get install $(NODE)" >&2; fi

types: $(READY) $(WEB)/node_modules/.ready  ## write the page's types anew after a change of the protocol
	@$(BIN)/voice-server schema | npm --prefix $(WEB) run --silent types >$(WEB)/src/protocol/wire.ts.new
	@mv $(WEB)/src/protocol/wire.ts.new $(WEB)/src/protocol/wire.ts

setup: $(READY)  ## prepare .venv and nothing else

lock: $(READY)  ## write requirements.lock from pyproject.toml; ARGS=--upgrade takes the newest versions
	@$(BIN)/uv pip compile pyproject.toml --quiet --all-extras --universal --python-version 3.11 \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --output-file requirements.lock $(ARGS)
	@! grep -n '://' requirements.lock || { echo "make: requirements.lock names a host; it must not" >&2; exit 1; }

clean:  ## delete .venv, caches and everything made
	rm -rf .venv $(OUT) $(WEB)/dist $(WEB)/node_modules dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis

# The environment: pip fetches uv (its pin and hashes are in the lock), uv fetches the rest ten times faster than pip.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "make: glove-voice needs Python 3.11 or newer and '$(PYTHON)' is older or missing;" \
			"install one and name it: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || rm -rf .venv
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv || { \
		echo "make: '$(PYTHON)' cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Preparing .venv (about 1 GB; seconds to a minute, once)" >&2
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock >.venv/uv.lock
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement .venv/uv.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --requirement requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

# The page: packages as the lock has them, then what a browser loads.
$(WEB)/node_modules/.ready: $(WEB)/package.json $(WEB)/package-lock.json $(WEB)/.npmrc
	@cd $(WEB) && npm ci --silent && touch node_modules/.ready

$(WEB)/dist/index.html: $(WEB)/node_modules/.ready $(shell find $(WEB)/src $(WEB)/public -type f) \
		$(WEB)/index.html $(WEB)/vite.config.ts $(WEB)/tsconfig.json
	@cd $(WEB) && npm run --silent build -- --logLevel warn

# Debian's packages that some tests need; without them those tests say what is missing and skip.
AS_ROOT = $(shell if [ "$$(id -u)" = 0 ]; then echo env; elif sudo -n true 2>/dev/null; then echo sudo; else echo false; fi)
APT_GET = $(AS_ROOT) DEBIAN_FRONTEND=noninteractive apt-get -qq

prompts:
	@dpkg-query --show $(PROMPTS) >/dev/null 2>&1 \
		|| { $(APT_GET) update && $(APT_GET) install --yes $(PROMPTS); } >/dev/null \
		|| echo "make: tests on human recordings will skip; they need: apt-get install $(PROMPTS)" >&2

database:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
		|| { $(APT_GET) update && $(APT_GET) install --yes --no-install-recommends $(DATABASE); } >/dev/null \
		|| echo "make: tests on PostgreSQL will skip; they need: apt-get install $(DATABASE)" >&2

browser:
	@command -v $(BROWSER) >/dev/null \
		|| { $(APT_GET) update && $(APT_GET) install --yes --no-install-recommends $(BROWSER); } >/dev/null \
		|| echo "make: tests in a browser will skip; they need: apt-get install $(BROWSER)" >&2

go:
	@command -v go >/dev/null || { $(APT_GET) update && $(APT_GET) install --yes --no-install-recommends $(GO); } >/dev/null \
		|| true  # what needs it says what else will do

media: $(READY) go
	@$(BIN)/python -m tests.livekit --build || echo "make: tests in rooms will skip" >&2

node:
	@{ command -v node && command -v npm; } >/dev/null \
		|| { $(APT_GET) update && $(APT_GET) install --yes --no-install-recommends $(NODE); } >/dev/null \
		|| echo "make: tests of the page will skip; they need: apt-get install $(NODE)" >&2
