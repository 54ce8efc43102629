import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import { boundAnswer } from "#lib/net/bound-answer.ts";
import { pauseAbout } from "#lib/time/pause-about.ts";

/** Where a bucket is, and who may use it. */
export interface BucketOptions {
  /** Such as https://s3.eu-central-1.amazonaws.com. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** What the names of its objects begin with; not empty, it ends with a slash. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What is asked of an object. */
interface Ask {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** The most bytes of the answer; 0: its head alone is wanted. Absent: what a bucket says needs. */
  readonly mostBytes?: number;
}

/** Each try is given up after this long without an answer; a body that is read has this long for all of it. */
const answerMs = 30_000;
const usualMostBytes = 64 * 1024;
const tries = 3;
const firstPauseMs = 200;

/** Objects of a bucket over S3's protocol, in whose paths the bucket stands. */
export class Bucket {
  readonly #options: BucketOptions;

  constructor(options: BucketOptions) {
    this.#options = options;
  }

  /**
   * Asks until there is an answer, three times at most: an answer that says "busy" or "failed here" is none. Undefined: there is no
   * such object. Throws what the bucket says.
   */
  async ask(name: string, what: Ask): Promise<Response | undefined> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#send(name, what).catch((error: unknown) => toError(this.#options, name, error));
      const isPassing = answer instanceof Error || answer.status >= 500 || answer.status === 429;
      if (isPassing && attempt < tries) {
        await pauseAbout(firstPauseMs * 2 ** attempt);
        continue;
      }
      if (answer instanceof Error) {
        throw answer;
      }
      if (answer.ok) {
        return answer;
      }
      const text = await answer.text();
      if (readField(text, "Code") === "NoSuchKey" && what.method === "GET") {
        return undefined;
      }
      throw toError(this.#options, name, `${answer.status} ${describe(text)}`);
    }
  }

  async #send(
    name: string,
    { method, query = {}, headers = {}, body, mostBytes = usualMostBytes }: Ask,
  ): Promise<Response> {
    const { endpoint, region, bucket, prefix, accessKeyId, secretAccessKey } = this.#options;
    const url = new URL(`${endpoint.replace(/\/$/, "")}/${bucket}/${prefix}${name}`);
    for (const [field, value] of Object.entries(query)) {
      url.searchParams.set(field, value);
    }
    const digest = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const signed = await new AwsV4Signer({
      ...{ method, url: url.href, region, accessKeyId, secretAccessKey, service: "s3" },
      headers: { ...headers, "x-amz-content-sha256": digest },
    }).sign();
    const answer = await fetch(signed.url, {
      ...{ method, headers: signed.headers, redirect: "error", signal: AbortSignal.timeout(answerMs) },
      ...(body !== undefined && { body: new Uint8Array(body) }),
    });
    if (answer.ok && mostBytes === 0) {
      await answer.body?.cancel();
      return answer;
    }
    return boundAnswer(answer, Math.max(mostBytes, usualMostBytes), "the bucket's");
  }
}

function toError({ endpoint, bucket, prefix }: BucketOptions, name: string, error: unknown): Error {
  const cause = (error as { cause?: { message?: string; code?: string } }).cause;
  const reason = cause?.message || cause?.code || (error as Error).message || String(error);
  return new Error(`${endpoint}/${bucket}/${prefix}${name}: ${reason}`, { cause: error });
}

/** What an answer in XML says in `Code` and `Message`. */
function describe(text: string): string {
  return ["Code", "Message"].flatMap((field) => readField(text, field) ?? []).join(": ");
}

/** The text of the first element of a name. */
export function readField(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}
