# syntax=docker/dockerfile:1

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY web/package.json web/
COPY traffic/package.json traffic/
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
RUN node scripts/build-package.mjs

# What the server needs at run time; with --build-arg WITH=traffic, also the clients that traffic switching needs. The image has its
# own Node, so the package that brings one is left out.
FROM node:24-bookworm-slim AS packages
ARG WITH=
WORKDIR /packages
COPY package.json package-lock.json ./
COPY traffic/package.json traffic/clients.mjs traffic/
RUN if [ -n "$WITH" ]; then parts="--workspace=$WITH --include-workspace-root"; else parts=--workspaces=false; fi \
  && npm ci --omit=dev $parts --ignore-scripts --no-audit --no-fund
RUN rm -rf node_modules/node node_modules/.bin \
  && npm rebuild --workspaces=false --ignore-scripts=false \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# No npm, no compiler, no sources: Node, git and ssh (to read repositories), and the compiled server.
FROM debian:bookworm-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git libatomic1 libstdc++6 openssh-client \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 10001 weir \
  && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin weir \
  && install --directory --owner=10001 --group=10001 --mode=0700 /data /backups \
  && ln -s /app/scripts/weir.mjs /usr/local/bin/weir
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=packages /packages/node_modules ./node_modules
COPY --from=packages /packages/traffic ./traffic
COPY --from=build /build/dist ./dist
COPY package.json LICENSE CHANGELOG.md ./
COPY scripts/weir.mjs scripts/launch.mjs scripts/launch.json scripts/install.mjs scripts/installed-package.mjs scripts/build-web.mjs ./scripts/
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_FOLDER=/data LOGGING_FILE=stderr \
  MALLOC_MMAP_THRESHOLD_=131072 MALLOC_ARENA_MAX=2
USER 10001:10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.METRICS_PORT ? `http://127.0.0.1:${process.env.METRICS_PORT}/ping` : `http://127.0.0.1:${process.env.PORT}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "/app/dist/src/main.js"]
CMD ["up"]
