import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { toDuration } from "../../../lib/time/duration.ts";
import type { CoreLedger } from "../ledger/core-ledger.ts";
import type { Arrival, Departure, Move } from "./interface.ts";

/** The pause between two looks whether requests of the account still run. */
const lookMs = 50;
/** An account whose core ended while it was closed opens again this long after the allowed pause. */
const graceMs = 10_000;

/** The two databases of a move. */
export interface MoveEnds {
  readonly departure: Departure;
  readonly arrival: Arrival;
  /** The ledger of the database that the account leaves. */
  readonly ledger: Pick<CoreLedger, "callIn">;
  /** Refreshes the prices of both databases. */
  readonly refreshPrices: () => Promise<void>;
  /** Tells the cores that a move has changed. Never fails. */
  readonly tell: () => Promise<void>;
}

/**
 * Moves an account. It is closed meanwhile: running requests end, and no new one begins. Once the account has left, the
 * move can only go on, by this core or any other. Throws BALANCE_HELD, with the account where it was, when requests run
 * for longer than the allowed pause, and LEDGER_UNAVAILABLE.
 */
export async function moveAccount(move: Move, pauseMs: number, ends: MoveEnds, clock: Clock): Promise<void> {
  const { departure, arrival, tell } = ends;
  await arrival.mustTake(move.accountId);
  await ends.refreshPrices();
  try {
    await departure.close(move, new Date(clock.now() + pauseMs + graceMs));
    await tell();
    await leaveInTime(move, pauseMs, ends, clock);
  } catch (error) {
    // If this fails, the worker that looks for unfinished moves opens the account again, or finishes its move.
    const hasLeft = await departure.cancel(move).catch(() => false);
    await tell();
    if (!hasLeft) {
      throw error;
    }
  }
  await finish(move, ends);
}

async function leaveInTime(move: Move, pauseMs: number, { departure, ledger }: MoveEnds, clock: Clock): Promise<void> {
  const until = clock.monotonic() + pauseMs;
  for (;;) {
    await ledger.callIn(move.accountId);
    if ((await departure.leave(move)) !== "leased") {
      return;
    }
    if (clock.monotonic() >= until) {
      throw failure(
        Reason.BALANCE_HELD,
        "Requests of the account run for longer than it may be closed: it stays where it is. Try again, or allow a longer pause.",
        { retryAfter: toDuration(1000) },
      );
    }
    await new Promise<void>((resolve) => clock.after(lookMs, resolve));
  }
}

/** Finishes the move of an account that has left. Several cores may call it, and again after any failure. */
export async function finish(
  move: Move,
  { departure, arrival, tell }: Omit<MoveEnds, "ledger" | "refreshPrices">,
): Promise<void> {
  const parcel = await departure.leave(move);
  if (typeof parcel === "string") {
    return;
  }
  await arrival.arrive(move, parcel);
  await tell();
  await departure.done(move);
  await tell();
}
