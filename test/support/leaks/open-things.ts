// What tests have open beyond what Node knows of: servers in this process, databases. For the leak check.

const open = new Set<{ name: string }>();

/** Call the result when the thing is closed. */
export function noteOpen(name: string): () => void {
  const thing = { name };
  open.add(thing);
  return () => open.delete(thing);
}

/** The names, oldest first. */
export function openThings(): string[] {
  return [...open].map(({ name }) => name);
}
