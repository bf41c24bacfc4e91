namespace App.Core
{
    public sealed class Store<T> : IStore
    {
        public async Task<int> SaveAsync(T item)
        {
            if (item == null) return 0;
            return 1;
        }
    }
    internal struct Point { }
}
