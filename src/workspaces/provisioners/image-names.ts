/** Names of container images. Pure. */

/** With the tag that counts when none is named: without one an engine fetches every tag that there is. */
export function imageWithTag(image: string): string {
  if (image.includes("@")) return image;
  const lastPart = image.slice(image.lastIndexOf("/") + 1);
  return lastPart.includes(":") ? image : `${image}:latest`;
}
