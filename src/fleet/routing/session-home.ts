import type { Member } from "../servers/member.ts";
import { hashText } from "./hash-text.ts";

/** The server to which every core sends a session without asking the others (rendezvous hashing). */
export function homeOf(session: number, candidates: readonly Member[]): Member {
  const rank = ({ id }: Member) => hashText(id, session);
  return candidates.reduce((one, other) => (rank(other) > rank(one) ? other : one));
}
