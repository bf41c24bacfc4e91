/* outer /* nested */ still a comment */
pub struct Point<'a> { name: &'a str }
pub(crate) async unsafe fn run<T>(x: T) -> u8 {
    match x { _ if true || false => 1, _ => 2 }
}
macro_rules! shout { () => {} }
impl Point<'_> {
    const fn zero() -> u8 { 0 }
}
