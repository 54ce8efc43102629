/** A turn during which others took more than this part of the machine's CPU is taken again. */
const disturbed = 0.1;

/** The least disturbed of one turn and so many more; the first one that is hardly disturbed at all. */
export async function takeUndisturbed<Turn>(
  take: () => Promise<Turn>,
  disturbance: (turn: Turn) => number,
  { retakes, progress }: { readonly retakes: number; readonly progress: (line: string) => void },
): Promise<Turn> {
  let best = await take();
  for (let again = 0; again < retakes && disturbance(best) > disturbed; again++) {
    progress(`others took ${Math.round(disturbance(best) * 100)} % of the CPU: once more`);
    const turn = await take();
    if (disturbance(turn) < disturbance(best)) {
      best = turn;
    }
  }
  return best;
}
