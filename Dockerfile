# syntax=docker/dockerfile:1

# Build: everything that is bundled, with the versions of the lock file.
FROM node:20-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY test/conformance/package.json test/conformance/unlink-node.mjs test/conformance/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

# What runs needs beside the bundle: the database and the loader of TypeScript configs.
FROM node:20-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund

FROM node:20-slim
LABEL org.opencontainers.image.source="https://github.com/toolscout/toolscout" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/dist dist
COPY --from=build /build/assets assets
RUN mkdir -p /etc/toolscout /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 7077
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7077/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/cli.js"]
CMD ["serve", "--host", "0.0.0.0", "--port", "7077", "--config", "/etc/toolscout/config.jsonc", "--state-dir", "/data"]
