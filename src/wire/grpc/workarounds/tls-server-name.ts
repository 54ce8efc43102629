import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import * as grpc from "@grpc/grpc-js";
import type { ClientTls } from "#lib/net/tls-identity.ts";

type Connector = ReturnType<grpc.ChannelCredentials["_createSecureConnector"]>;
type CreateConnector = Parameters<grpc.ChannelCredentials["_createSecureConnector"]>;

/*
 * Wrong: a client asks for every target by name in TLS (SNI), for a bare address too. RFC 6066, section 3, forbids that,
 * and Node.js 26 throws.
 * Upstream: @grpc/grpc-js 1.14.7 (`channel-credentials.js`, `getConnectionOptions`;
 * grpc/grpc-node#1919).
 * Still needed while test/wire/grpc/workarounds/tls-server-name.test.ts sees no connection to an address without it.
 * Delete when grpc-js leaves `servername` out for addresses; `grpc.credentials.createSsl` then does.
 */

/** Credentials of a client that speaks TLS. */
export function createTlsCredentials({ ca, cert, key }: ClientTls = {}): grpc.ChannelCredentials {
  return new TlsCredentials(grpc.credentials.createSsl(ca, key, cert));
}

/** Without the name the certificate is still checked for the address. */
class TlsCredentials extends grpc.ChannelCredentials {
  readonly #inner: grpc.ChannelCredentials;

  constructor(inner: grpc.ChannelCredentials) {
    super();
    this.#inner = inner;
  }

  _isSecure(): boolean {
    return true;
  }

  _equals(other: grpc.ChannelCredentials): boolean {
    return other instanceof TlsCredentials && this.#inner._equals(other.#inner);
  }

  _createSecureConnector(...args: CreateConnector): Connector {
    const connector = this.#inner._createSecureConnector(...args);
    const { connectionOptions } = connector as Connector & { readonly connectionOptions: ConnectionOptions };
    if (isIP(connectionOptions.servername ?? "") !== 0) {
      delete connectionOptions.servername;
    }
    return connector;
  }
}
