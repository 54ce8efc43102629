import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerDataStream } from "smtp-server";

/** A mail as a server took it. */
export interface TakenMail {
  readonly to: readonly string[];
  /** The whole message, as it came over the wire. */
  readonly source: string;
  readonly messageId: string;
}

/** A part of a mail's source as people read it, such as "text/html". Undefined: it has none. */
export function readPart(source: string, type: string): string | undefined {
  const parts = source
    .split(/^--.*\r\n/m)
    .filter((part) => part.startsWith(`Content-Type: ${type}; charset=utf-8\r\n`));
  const [head = "", ...body] = parts[0]?.split("\r\n\r\n") ?? [];
  const text = body.join("\n\n").replaceAll("\r\n", "\n");
  if (parts.length !== 1) {
    return undefined;
  }
  return /quoted-printable/.test(head)
    ? text
        .replaceAll("=\n", "")
        .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}

interface Refusal extends Error {
  responseCode: number;
}

/** A real mail server on this machine. */
export class MailServer implements AsyncDisposable {
  readonly mails: TakenMail[] = [];
  /** Recipients that were offered, taken or not. */
  readonly offered: string[] = [];
  /** What the server answers to a recipient: a code of SMTP. */
  answer: (to: string) => number = () => 250;
  /** Whether it never answers what was sent. */
  hangs = false;
  readonly #server: SMTPServer;

  private constructor(user?: { readonly name: string; readonly password: string }) {
    this.#server = new SMTPServer({
      disabledCommands: ["STARTTLS", ...(user === undefined ? ["AUTH"] : [])],
      allowInsecureAuth: true,
      logger: false,
      onAuth: ({ username, password }, _session, done) =>
        username === user?.name && password === user?.password
          ? done(null, { user: username })
          : done(refusal(535, "who are you")),
      onRcptTo: ({ address }, _session, done) => {
        this.offered.push(address);
        const code = this.answer(address);
        done(code === 250 ? null : refusal(code, "not here"));
      },
      onData: (stream, { envelope }, done) => {
        void this.#take(
          stream,
          envelope.rcptTo.map(({ address }) => address),
        ).then(() => this.hangs || done());
      },
    });
    this.#server.on("error", () => {}); // clients that go away
  }

  static async start(user?: { readonly name: string; readonly password: string }): Promise<MailServer> {
    const server = new MailServer(user);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server.server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  async #take(stream: SMTPServerDataStream, to: readonly string[]): Promise<void> {
    const source = Buffer.concat(await stream.toArray()).toString("utf8");
    this.mails.push({ to, source, messageId: /^message-id: (.*)$/im.exec(source)?.[1]?.trim() ?? "" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#server.connections) {
      connection.close();
    }
    await new Promise<void>((closed) => this.#server.close(closed));
  }
}

function refusal(code: number, message: string): Refusal {
  return Object.assign(new Error(message), { responseCode: code });
}
