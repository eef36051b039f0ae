# The environment of ARTIFACT.md: everything built, tests and experiments ready to run.
#   docker build -t ldiv . && docker run --rm -it ldiv make test
FROM python:3.11-slim-bookworm
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc g++ git make \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /ldiv
COPY . .
RUN python -m venv .venv \
 && .venv/bin/python -m pip install --no-cache-dir --require-hashes -r requirements.lock \
 && make build
CMD ["make", "reproduce"]
