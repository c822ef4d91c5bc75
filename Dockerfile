# SPDX-License-Identifier: Apache-2.0
# The image of `berth controller`: one binary, the libraries it loads, CA certificates, time zones. No shell, no package manager.
# scripts/build-image-root does all the work, and runs without a container engine too.
#   docker build -t registry.example.com/berth:0.1.0 .
# The libraries in the image are the base's. A tag moves; for a build that can be told apart from every other, name the base by its digest:
#   docker buildx imagetools inspect debian:12-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg BASE=debian:12-slim@sha256:… -t registry.example.com/berth:0.1.0 .
ARG BASE=debian:12-slim
FROM ${BASE} AS build
# What `berth version` tells of: .git is not in the context.
#   docker build --build-arg STAMP="$(scripts/version-stamp)" …
ARG STAMP=
WORKDIR /src
COPY scripts/install-packages scripts/
RUN scripts/install-packages --only build
COPY . .
RUN cmake --preset release -DBERTH_STAMP="$STAMP" -DBERTH_TESTS=OFF -DBERTH_BENCH=OFF && cmake --build --preset release --target berth
RUN scripts/build-image-root build/release/berth /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
ENTRYPOINT ["/usr/bin/berth"]
CMD ["controller"]
