/** A server's certificate and key, in PEM. */
export interface TlsIdentity {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** The authority that signs the certificates which clients must show. Undefined: they need none. */
  readonly clientCa?: Buffer;
}

/** A server's identity. It changes when its files are renewed. */
export interface ServerTls {
  readonly current: TlsIdentity;
  /** Calls back with each new identity. */
  onRenewed(listener: (identity: TlsIdentity) => void): void;
}

/** The authority that a client trusts and the client's own certificate and key, in PEM. */
export interface ClientTls {
  /** The authority that signs the server's certificate. Undefined: one of the system's authorities. */
  readonly ca?: Buffer;
  /** The client's own certificate and key. Undefined: it has none. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
}
