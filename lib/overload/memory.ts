import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";

/**
 * The memory for one purpose, in bytes: as much as wished, but at most an eighth of the memory, or of V8's heap for
 * objects there. All purposes together have to leave room for the program, on any machine.
 */
export function boundToMemory(bytes: number, place: "heap" | "machine"): number {
  const available = place === "heap" ? getHeapStatistics().heap_size_limit : availableBytes();
  return Math.min(bytes, Math.floor(available / 8));
}

/**
 * Which part of its memory this process uses: of V8's heap or of the machine's or the container's memory, whichever is
 * fuller.
 */
export function readUsedMemory(): number {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  return Math.max(used_heap_size / heap_size_limit, residentBytes() / availableBytes());
}

/** The memory of the machine or the container. */
function availableBytes(): number {
  const constrained = process.constrainedMemory();
  // Without a limit the kernel reports 0 or more than there is.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Memory that the kernel cannot take back. It can take back pages of files, such as a model's. */
function residentBytes(): number {
  const resident = process.memoryUsage.rss();
  try {
    const [, pages, shared] = readFileSync("/proc/self/statm", "latin1").split(" ").map(Number);
    return pages && shared !== undefined ? resident * (1 - shared / pages) : resident;
  } catch {
    return resident; // not Linux
  }
}
