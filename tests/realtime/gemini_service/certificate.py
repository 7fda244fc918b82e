"""A certificate for 127.0.0.1, made for one run: the SDK speaks to ``https`` addresses only."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

__all__ = ["serving", "trusting"]


def serving() -> ssl.SSLContext:
    """What the service shows."""
    certificate, key = _made()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "service.pem"
        file.write_bytes(key + certificate)
        context.load_cert_chain(file)
    return context


def trusting() -> ssl.SSLContext:
    """What trusts it, and nobody else."""
    return ssl.create_default_context(cadata=_made()[0].decode("ascii"))


@cache
def _made() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain),
    )
