/** A dialog that is open, as the history sees it. */
export interface OpenDialog {
  /** Whether Back leaves it open. */
  readonly isKept: () => boolean;
  readonly close: () => void;
}

/**
 * The dialogs that are open, the topmost last. As long as there is one, they have an entry of the history of their own
 * after the page's: Back leads from it to the page, which closes the topmost one and nothing else.
 */
let open: readonly OpenDialog[] = [];
/** What is done as soon as the entry is taken back. Undefined: it is not being taken back. */
let waiting: (() => void)[] | undefined;
/** Milliseconds after which a browser goes nowhere: it has dropped the page's own entry. */
const lostMs = 1000;

/** Whether the history stands at the dialogs' entry. */
export function isAtDialogs(): boolean {
  return (history.state as { readonly ofDialogs?: boolean } | null)?.ofDialogs === true;
}

/** Whether the dialogs' entry is being taken back: browsers do so a moment later. */
export function isTakingBack(): boolean {
  return waiting !== undefined;
}

/** Gives a dialog its place in the history. Returns the function that takes it away once the dialog is closed. */
export function openDialog(dialog: OpenDialog): () => void {
  open = [...open, dialog];
  if (waiting === undefined) {
    enter();
  } else {
    waiting.push(enter);
  }
  return () => {
    const isByItself = open.includes(dialog); // and nobody goes elsewhere
    open = open.filter((one) => one !== dialog);
    if (isByItself && open.length === 0 && isAtDialogs()) {
      takeBack();
    }
  };
}

/** Whether something is shown that never is again. */
export function isShownOnce(): boolean {
  return open.some(({ isKept }) => isKept());
}

/** Closes all dialogs, since the reader goes elsewhere. Their entry is whose page comes next. */
export function closeDialogs(): void {
  const closed = open;
  open = [];
  for (const dialog of closed) {
    dialog.close();
  }
}

/** Goes back to the page's own entry, and does something there. */
export function takeBack(then?: () => void): void {
  if (waiting === undefined) {
    const begun: (() => void)[] = [];
    waiting = begun;
    history.back();
    setTimeout(() => {
      if (waiting === begun) {
        history.replaceState(null, "");
        finishTaking();
      }
    }, lostMs);
  }
  if (then !== undefined) {
    waiting.push(then);
  }
}

/** Does what waited for the entry to be taken back. Returns whether that was under way. */
function finishTaking(): boolean {
  const done = waiting;
  waiting = undefined;
  for (const then of done ?? []) {
    then();
  }
  return done !== undefined;
}

/** The history has come to another entry, of the same page or of another, or the console has started at one. */
export function arriveAtEntry(isSamePage: boolean): void {
  if (finishTaking()) {
    return;
  }
  if (!isSamePage) {
    closeDialogs();
  }
  if (!isAtDialogs()) {
    goBack();
  } else if (open.length === 0) {
    takeBack(); // of dialogs that are no more: the page was loaded anew, or somebody went forward
  }
}

/** Back was pressed: the topmost dialog closes unless it is kept, and those that stay keep their entry. */
function goBack(): void {
  const top = open.at(-1);
  if (top !== undefined && !top.isKept()) {
    open = open.slice(0, -1);
    top.close();
  }
  if (open.length > 0) {
    history.forward();
  }
}

function enter(): void {
  if (open.length > 0 && !isAtDialogs()) {
    history.pushState({ ofDialogs: true }, "");
  }
}
