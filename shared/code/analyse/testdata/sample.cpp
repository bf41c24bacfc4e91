// C++
namespace app {
class Widget : public Base {
public:
  int size() const { return 1; }
};
}
template <typename T> class Box {};
int app::Widget::resize(int w, int h) {
  return w && h;
}
Widget::~Widget() {}
