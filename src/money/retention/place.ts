/** A file as it was written. */
export interface WrittenFile {
  readonly bytes: number;
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string;
}

/** A file that gets its name once it is complete, replacing a file of the same name. */
export interface NewFile {
  /** Resolves when more can be written. */
  write(content: Buffer): Promise<void>;
  finish(): Promise<WrittenFile>;
  /** Gives it up: nothing of it stays. */
  abandon(): Promise<void>;
}

/** Where archives are: a folder, or a bucket. */
export interface ArchivePlace {
  create(name: string): Promise<NewFile>;
  /** What tells the file from any other that had, or will have, its name: its mark. Undefined: there is none. */
  identify(name: string): Promise<string | undefined>;
  /** Whether nobody can change a file and keep its mark, so that marks are believed for ever. Absent: while this process runs. */
  readonly hasLastingMarks?: boolean;
  /** The content of a file, from its beginning. */
  stream(name: string): AsyncIterable<Uint8Array>;
  open(name: string): Promise<OpenFile>;
}

/** A file that is open for reading. */
export interface OpenFile {
  /** So many bytes from a position on. Throws when the file ends before. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}
