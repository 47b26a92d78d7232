# The Python root of a machine behind a TLS proxy: whatever was pulled or bootstrapped, and the certificates this machine trusts.
# Without them no container could reach a package index. Made by builder/machine/base.sh, only where they are needed.
ARG BARE
FROM ${BARE}
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
