export interface Point { x: number }
type Pair = [Point, Point];
enum Color { Red }
export const area = async (p: Point): Promise<number> => p.x;
abstract class Base<T> { }
