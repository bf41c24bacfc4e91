<?php
// comment
# another
final class User {
    public static function find(int $id) { return $id ? 1 : 0; }
}
function &helper() {}
