import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { UnreadAnswers } from "./unread-answers.ts";

/** Longer answers are written in pieces of this many bytes, so that it can be seen how much the client takes. */
const pieceBytes = 64 * 1024;
/** A client that takes nothing of a whole answer for this long is given up, in milliseconds. */
const graceMs = 30_000;
/** After that, the bytes that the client has to take in a millisecond, on average. */
const leastPace = 16;
/** The same for the end of a stream. Its readers may be slower: they may print it as it comes. */
const streamGraceMs = 60_000;
const leastStreamPace = 0.128;

/**
 * Sends a whole answer, and watches a slow client until it has all of it. `length`: of the text in bytes; `owner`: the
 * client that the answer counts for.
 */
export function sendWhole(
  response: ServerResponse,
  text: string,
  length: number,
  owner: () => string,
  unread: UnreadAnswers,
): void {
  const taken = length > pieceBytes ? sendPieces(response, Buffer.from(text)) : sendAtOnce(response, text, length);
  if (response.writableLength > 0) {
    const isLate = (ageMs: number) => ageMs >= graceMs && taken() <= (ageMs - graceMs) * leastPace;
    watch(response, { owner: owner(), bytes: length, isLate }, unread);
  }
}

/** Watches a client that has not yet taken the end of its stream, which is already written. */
export function watchEnd(response: ServerResponse, owner: () => string, unread: UnreadAnswers): void {
  if (response.writableLength > 0 && !response.destroyed) {
    watch(response, { owner: owner(), ...endOf(response) }, unread);
  }
}

/** Writes what is left of an answer whose response is over, and watches the client until it has taken it. */
export function sendRest(socket: Socket, pieces: readonly Buffer[], owner: string, unread: UnreadAnswers): void {
  const answer = { owner, bytes: 0, isLate: (_ageMs: number) => false, giveUp: () => void socket.destroy() };
  socket.cork();
  for (const [at, piece] of pieces.entries()) {
    socket.write(piece, at === pieces.length - 1 ? () => unread.delete(answer) : undefined);
  }
  socket.uncork();
  if (socket.writableLength > 0 && !socket.destroyed) {
    unread.add(Object.assign(answer, endOf(socket)));
  }
}

/** What a client has still to take, and when it is late. */
function endOf(stream: { readonly writableLength: number }) {
  const bytes = stream.writableLength;
  const isLate = (ageMs: number) => {
    const taken = bytes - stream.writableLength;
    return ageMs >= streamGraceMs && taken <= (ageMs - streamGraceMs) * leastStreamPace;
  };
  return { bytes, isLate };
}

function watch(
  response: ServerResponse,
  waiting: { readonly owner: string; readonly bytes: number; isLate(ageMs: number): boolean },
  unread: UnreadAnswers,
): void {
  const answer = { ...waiting, giveUp: () => void response.destroy() };
  response.once("close", () => unread.delete(answer));
  unread.add(answer);
}

function sendAtOnce(response: ServerResponse, text: string, length: number): () => number {
  response.end(text);
  return () => length - response.writableLength;
}

function sendPieces(response: ServerResponse, body: Buffer): () => number {
  let sent = 0;
  const goOn = () => {
    for (let hasRoom = true; hasRoom && sent < body.length; ) {
      const piece = body.subarray(sent, sent + pieceBytes);
      sent += piece.length;
      hasRoom = response.write(piece);
    }
    if (sent === body.length && !response.writableEnded) {
      response.end();
    }
  };
  response.on("drain", goOn);
  goOn();
  return () => sent - response.writableLength;
}
