# A kernel in a container, built from this checkout. What it needs of the host: docs/guides/operations.md.
FROM node:24-bookworm-slim AS build
WORKDIR /source
COPY . .
RUN npm run install:global -- --prefix /opt/narthex

FROM node:24-bookworm-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates git perl tini \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/narthex /opt/narthex
RUN install -d -o node -g node -m 0700 /home/node/.narthex \
  && install -d -o node -g node -m 0755 /workspace
ENV PATH=/opt/narthex/bin:/usr/local/bin:/usr/bin:/bin
USER node
WORKDIR /workspace
VOLUME ["/home/node/.narthex", "/workspace"]
# Node reaps no orphans, and a program of an agent may leave some.
ENTRYPOINT ["tini", "--", "narthex"]
CMD ["serve"]
