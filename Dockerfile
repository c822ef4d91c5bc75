# SPDX-License-Identifier: Apache-2.0
# The image of `berth controller`: one binary, the libraries it loads, CA certificates, time zones. No shell, no package manager.
# scripts/package does all the work, and runs without a container engine too. `--build-arg PRESET=lto` optimises while linking, as a published
# image does: a smaller binary, for a longer build.
#   docker build -t registry.example.com/berth:0.1.0 .
# The libraries in the image are the base's. A tag moves; for a build that can be told apart from every other, name the base by its digest:
#   docker buildx imagetools inspect debian:12-slim --format '{{.Manifest.Digest}}'
#   docker build --build-arg BASE=debian:12-slim@sha256:… -t registry.example.com/berth:0.1.0 .
ARG BASE=debian:12-slim
FROM ${BASE} AS build
# What `berth version` tells of: .git is not in the context.
#   docker build --build-arg STAMP="$(scripts/version-stamp)" …
ARG STAMP=
ARG PRESET=release
WORKDIR /src
COPY scripts/install-packages scripts/
RUN scripts/install-packages --only build
COPY . .
RUN cmake --preset ${PRESET} -DBERTH_STAMP="$STAMP" && cmake --build --preset ${PRESET}
RUN scripts/package image build/${PRESET} /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
ENTRYPOINT ["/usr/bin/berth"]
CMD ["controller"]
