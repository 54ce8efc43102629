import { serviceClasses } from "#lib/limits/service-class.ts";
import type { Load, News } from "../news.ts";
import { headBytes, kinds, longestMessage, version } from "./format.ts";

/** Encodes news as a piece of a message. `pack` makes messages of pieces. */
export function encode(news: News): Buffer {
  const name = Buffer.from("model" in news ? news.model : news.server);
  return Buffer.concat([Buffer.from([kinds[news.kind], ...int16(name.length)]), name, bodyOf(news)]);
}

/** Packs pieces into as few messages as possible. With `isWhole`, the first of them is whole, even without pieces. */
export function pack(core: string, isWhole: boolean, pieces: readonly Buffer[]): Buffer[] {
  const messages: Buffer[] = [];
  for (let from = 0; from < pieces.length || (from === 0 && isWhole); ) {
    let [to, bytes] = [from, headBytes];
    while (to < pieces.length && (to === from || bytes + (pieces[to] as Buffer).length <= longestMessage)) {
      bytes += (pieces[to++] as Buffer).length;
    }
    messages.push(join(core, isWhole && from === 0, pieces.slice(from, to)));
    from = Math.max(to, 1);
  }
  return messages;
}

/** Joins pieces to a message. The core's id has 32 hexadecimal digits. */
export function join(core: string, isWhole: boolean, pieces: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([version]), Buffer.from(core, "hex"), Buffer.from([Number(isWhole)]), ...pieces]);
}

function bodyOf(news: News): Buffer {
  switch (news.kind) {
    case "load":
      return loadOf(news.load);
    case "prompt":
      return promptOf(news);
    case "head": {
      const { serviceClass, rank, waitedMs, prompt, total } = news.head;
      const { classes, accounts } = news.times;
      return Buffer.concat([
        Buffer.from([serviceClasses.indexOf(serviceClass)]),
        doubles(rank),
        counts(waitedMs, prompt, total),
        doubles(classes, ...accounts),
      ]);
    }
    case "served": {
      const key = Buffer.from(news.key);
      const head = [serviceClasses.indexOf(news.serviceClass)];
      return Buffer.concat([Buffer.from(head), doubles(news.work, news.running), Buffer.from(int16(key.length)), key]);
    }
    case "left":
      return Buffer.concat([Buffer.from(news.core, "hex"), loadOf(news.load), Buffer.from([Number(news.isPassedOn)])]);
    case "settled":
      return Buffer.concat([Buffer.from(news.core, "hex"), Buffer.from([Number(news.isUnfit)])]);
    case "trouble":
    case "avoided":
    case "empty":
      return Buffer.alloc(0);
  }
}

function loadOf({ inFlight, unreadTokens, tokensInFlight }: Load): Buffer {
  return counts(inFlight, unreadTokens, tokensInFlight);
}

function promptOf({ hashes, ends }: { readonly hashes: Int32Array; readonly ends: Int32Array }): Buffer {
  const count = ends.length;
  const body = Buffer.alloc(2 + 12 * count);
  body.writeUInt16LE(count, 0);
  for (let block = 0; block < count; block++) {
    body.writeInt32LE(hashes[2 * block] as number, 2 + 12 * block);
    body.writeInt32LE(hashes[2 * block + 1] as number, 6 + 12 * block);
    body.writeInt32LE(ends[block] as number, 10 + 12 * block);
  }
  return body;
}

const int16 = (value: number) => [value & 0xff, value >> 8];

function counts(...values: readonly number[]): Buffer {
  const body = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) {
    body.writeUInt32LE(Math.min(0xffff_ffff, Math.max(0, Math.round(value))), 4 * at);
  }
  return body;
}

function doubles(...values: readonly number[]): Buffer {
  const body = Buffer.alloc(8 * values.length);
  for (const [at, value] of values.entries()) {
    body.writeDoubleLE(value, 8 * at);
  }
  return body;
}
