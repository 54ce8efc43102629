import { createHash } from "node:crypto";
import type { NewFile, WrittenFile } from "../place.ts";
import { type Bucket, readField } from "./bucket.ts";

/** A part of an object, which stays in memory until the bucket has it. S3 takes no smaller ones than 5 MiB, and 10,000 of them. */
const partBytes = 16 * 2 ** 20;

/** An object that is written in parts, and there under its name once it is complete. */
export class BucketFile implements NewFile {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #partBytes: number;
  readonly #hash = createHash("sha256");
  #bytes = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Undefined: all of it fits into one part so far. */
  #uploadId: string | undefined;
  readonly #tags: string[] = [];

  constructor(bucket: Bucket, name: string, mostBytes = partBytes) {
    this.#bucket = bucket;
    this.#name = name;
    this.#partBytes = mostBytes;
  }

  async write(content: Buffer): Promise<void> {
    this.#hash.update(content);
    this.#bytes += content.length;
    this.#waiting.push(content);
    this.#waitingBytes += content.length;
    if (this.#waitingBytes >= this.#partBytes) {
      this.#uploadId ??= await this.#begin();
      await this.#sendPart(this.#uploadId);
    }
  }

  async finish(): Promise<WrittenFile> {
    if (this.#uploadId === undefined) {
      await this.#bucket.ask(this.#name, { method: "PUT", body: this.#take() });
    } else {
      if (this.#waitingBytes > 0) {
        await this.#sendPart(this.#uploadId);
      }
      await this.#complete(this.#uploadId);
    }
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }

  async abandon(): Promise<void> {
    this.#take();
    if (this.#uploadId !== undefined) {
      const query = { uploadId: this.#uploadId };
      await this.#bucket.ask(this.#name, { method: "DELETE", query }).catch(() => {}); // the bucket's own rules remove it later
    }
  }

  #take(): Buffer {
    const content = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    return content;
  }

  async #begin(): Promise<string> {
    const answer = await this.#bucket.ask(this.#name, { method: "POST", query: { uploads: "" } });
    return readField((await answer?.text()) ?? "", "UploadId") ?? this.#refuse("began no upload");
  }

  async #sendPart(uploadId: string): Promise<void> {
    const query = { partNumber: String(this.#tags.length + 1), uploadId };
    const answer = await this.#bucket.ask(this.#name, { method: "PUT", query, body: this.#take() });
    this.#tags.push(answer?.headers.get("etag") ?? this.#refuse("took a part without a tag"));
  }

  /** The answer may be an error although its status is none: the bucket keeps the connection alive while it puts parts together. */
  async #complete(uploadId: string): Promise<void> {
    const parts = this.#tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`);
    const answer = await this.#bucket.ask(this.#name, { method: "POST", query: { uploadId }, body });
    const text = (await answer?.text()) ?? "";
    if (!text.includes("<CompleteMultipartUploadResult")) {
      this.#refuse(`did not put the parts together: ${readField(text, "Message") ?? "it gave no reason"}`);
    }
  }

  #refuse(what: string): never {
    throw new Error(`the bucket ${what}: ${this.#name}`);
  }
}
