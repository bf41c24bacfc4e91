/* block
 * comment
 */
export default class Queue extends List {
  size() { return this.n > 0 && this.n ? 1 : 0; } // tail
}
const add = (a, b) => a + b;
export async function* walk(tree) {
  if (tree == null) return "/* text */";
  const s = `a
// in a text
`;
  for (const x of tree) { yield x; }
}
