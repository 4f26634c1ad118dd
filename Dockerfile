# Posse as an image: `docker build -t posse:0.1.0 .`
#
# What is compiled at all is compiled here, for any processor of the architecture, so that the container starts in a
# second, needs no folder that it can write to, and no user that may.

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv --without-pip /opt/posse
RUN pip --python /opt/posse/bin/python install --no-cache-dir --disable-pip-version-check .
# A third of numba and numpy is their tests.
RUN find /opt/posse -depth -type d -name tests -exec rm -r {} +
ENV NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=/opt/posse/kernels
RUN /opt/posse/bin/python -c "from posse.scheduler.warming import warm; warm()"

FROM python:${PYTHON}-slim
COPY --from=build /opt/posse /opt/posse
ENV PATH=/opt/posse/bin:$PATH PYTHONDONTWRITEBYTECODE=1
ENV NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=/opt/posse/kernels
USER 65532:65532
ENTRYPOINT ["posse"]
CMD ["scheduler"]
