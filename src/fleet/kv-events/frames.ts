/** A frame of ZMTP, the wire protocol of ZeroMQ. */
export interface Frame {
  readonly isCommand: boolean;
  /** Whether another frame of the same message follows. */
  readonly hasMore: boolean;
  readonly body: Buffer;
}

/** The longest frame that is accepted, in bytes. A batch of events has tens of kilobytes. */
export const longestFrame = 8 * 1024 * 1024;

// The flags of a frame.
const more = 1;
const long = 2;
const command = 4;

const greetingBytes = 64;
const signatureStart = 0xff;
const signatureEnd = 0x7f;
const signatureBytes = 10;
const mechanism = "NULL";

/** The greeting of a ZMTP 3.0 peer without authentication. */
export const greeting: Buffer = (() => {
  const bytes = Buffer.alloc(greetingBytes);
  bytes[0] = signatureStart;
  bytes[signatureBytes - 1] = signatureEnd;
  bytes[signatureBytes] = 3; // major version; minor 0: subscriptions are plain messages and no pings come
  bytes.write(mechanism, signatureBytes + 2, "latin1");
  return bytes;
})();

/** Encodes the command that ends the handshake. */
export function encodeReady(socketType: "SUB" | "DEALER"): Buffer {
  const name = "Socket-Type";
  const body = Buffer.alloc(6 + 1 + name.length + 4 + socketType.length);
  body[0] = 5;
  body.write("READY", 1, "latin1");
  body[6] = name.length;
  body.write(name, 7, "latin1");
  body.writeUInt32BE(socketType.length, 7 + name.length);
  body.write(socketType, 11 + name.length, "latin1");
  return Buffer.concat([Buffer.from([command, body.length]), body]);
}

/** Encodes a message whose frames are short, at most 255 bytes each. */
export function encodeMessage(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part, at) => [Buffer.from([at < parts.length - 1 ? more : 0, part.length]), part]),
  );
}

/** Splits a connection's bytes into frames. */
export class FrameReader {
  #unread: Buffer[] = [];
  #bytes = 0;
  #isGreeted = false;

  /** Takes bytes and returns the frames that they complete. Throws unless the peer speaks ZMTP 3 unauthenticated. */
  read(chunk: Buffer): Frame[] {
    this.#unread.push(chunk);
    this.#bytes += chunk.length;
    const frames: Frame[] = [];
    if (!this.#isGreeted) {
      if (this.#bytes < greetingBytes) {
        return frames;
      }
      checkGreeting(this.#take(greetingBytes));
      this.#isGreeted = true;
    }
    for (let frame = this.#frame(); frame !== undefined; frame = this.#frame()) {
      frames.push(frame);
    }
    return frames;
  }

  #frame(): Frame | undefined {
    if (this.#bytes < 2) {
      return undefined;
    }
    const flags = this.#peek(2)[0] as number;
    const headBytes = flags & long ? 9 : 2;
    if (this.#bytes < headBytes) {
      return undefined;
    }
    const head = this.#peek(headBytes);
    const size = flags & long ? Number(head.readBigUInt64BE(1)) : (head[1] as number);
    if (size > longestFrame) {
      throw new Error(`a frame of ${size} bytes is longer than ${longestFrame}`);
    }
    if (this.#bytes < headBytes + size) {
      return undefined;
    }
    this.#take(headBytes);
    return { isCommand: (flags & command) !== 0, hasMore: (flags & more) !== 0, body: this.#take(size) };
  }

  /** The first unread bytes, in one piece. */
  #peek(count: number): Buffer {
    if ((this.#unread[0]?.length ?? 0) < count) {
      this.#unread = [Buffer.concat(this.#unread)];
    }
    return this.#unread[0] as Buffer;
  }

  #take(count: number): Buffer {
    if (count === 0) {
      return Buffer.alloc(0);
    }
    const first = this.#peek(count);
    this.#bytes -= count;
    if (first.length === count) {
      this.#unread.shift();
    } else {
      this.#unread[0] = first.subarray(count);
    }
    return first.subarray(0, count);
  }
}

function checkGreeting(bytes: Buffer): void {
  const isZmtp = bytes[0] === signatureStart && bytes[signatureBytes - 1] === signatureEnd;
  if (!isZmtp || (bytes[signatureBytes] as number) < 3) {
    throw new Error("it does not speak ZMTP 3");
  }
  const asked = bytes.toString("latin1", signatureBytes + 2, signatureBytes + 22).replace(/\0+$/, "");
  if (asked !== mechanism) {
    throw new Error(`it asks for the mechanism ${asked}, and only ${mechanism} is spoken`);
  }
}
