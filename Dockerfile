# The gateway without a database of its own: DATABASE_URL names one (docker-compose.yml brings Postgres and Redis).

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts ./scripts
# No script of a package runs, here or below; the one correction that is needed is ours and is said by name.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN node scripts/build.mjs

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/guard-postgres.mjs ./scripts/
# The optional packages are the binaries of the embedded database (60 MB), which is not used here.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && node scripts/guard-postgres.mjs

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# Charts are painted with the fonts of the system: Chinese, Japanese and Korean in 5 MB, Arabic and the rest in 3 MB.
# bubblewrap confines what others may read, where the container is allowed user namespaces; `doctor` says whether it is.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap fonts-wqy-microhei fonts-dejavu-core \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY drizzle ./drizzle
RUN mkdir -p /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
# Alive, not ready: a restart mends a process that hangs, and mends nothing when Lark or Postgres is away.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/src/main.js"]
CMD ["start"]
