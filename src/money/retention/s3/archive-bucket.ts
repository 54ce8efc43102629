import type { ArchivePlace } from "../place.ts";
import { Bucket, type BucketOptions } from "./bucket.ts";
import { BucketFile } from "./bucket-file.ts";

/** What is read of a whole object at once. */
const pieceBytes = 2 * 2 ** 20;

/** A bucket, which all cores reach. `partBytes`: the size of the parts in which files are written. */
export function archiveBucket(options: BucketOptions, partBytes?: number): ArchivePlace {
  const bucket = new Bucket(options);
  const read = async (name: string, position: number, length: number) => {
    const headers = { range: `bytes=${position}-${position + length - 1}` };
    const answer = await bucket.ask(name, { method: "GET", headers, mostBytes: length });
    const content = Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0));
    if (content.length !== length) {
      throw new Error("an archive ended too soon");
    }
    return content;
  };
  /** Its first byte is asked for: an answer without a body does not say why there is none. */
  const look = async (name: string) => {
    const answer = await bucket.ask(name, { method: "GET", headers: { range: "bytes=0-0" }, mostBytes: 0 });
    const bytes = Number(answer?.headers.get("content-range")?.split("/")[1]);
    return answer && { bytes, mark: `${answer.headers.get("etag")} ${bytes} ${answer.headers.get("last-modified")}` };
  };
  return {
    create: async (name) => new BucketFile(bucket, name, partBytes),
    identify: async (name) => (await look(name))?.mark,
    hasLastingMarks: true, // the bucket makes a tag of the content, and tells the time of the last change
    async *stream(name) {
      const bytes = (await look(name))?.bytes ?? 0;
      for (let at = 0; at < bytes; at += pieceBytes) {
        yield await read(name, at, Math.min(pieceBytes, bytes - at));
      }
    },
    open: async (name) => ({ read: (position, length) => read(name, position, length), close: async () => {} }),
  };
}
